import { createHash } from 'node:crypto';
import type { Json } from '../../core/json.ts';
import { printTypeReference } from '../../model/model.ts';
import { isMisfit, type ModelPath, type PathMisfit } from '../../model/paths/paths.ts';
import type { ClusterAttributes } from '../query-source.ts';
import { hasMatchingValue } from './path-values.ts';

/**
 * Returns a function that gives a text for the meaning of a filter's paths in one cluster. While the text stays equal, the filter gives the
 * same result for an unchanged object.
 *
 * The text contains what each path leads to in the model, and the values of the paths that begin with `cluster`. Other attributes of the
 * cluster do not change the text.
 *
 * @param found What each path of the filter leads to in one kind, in order. Entries may be added until the first call.
 */
export function createPathMeaning(found: readonly (ModelPath | PathMisfit)[]): (cluster: ClusterAttributes) => string {
  let known: { readonly paths: string; readonly ofCluster: readonly ModelPath[] } | undefined;
  return (cluster) => {
    known ??= { paths: digestOf(found), ofCluster: found.flatMap((path) => (isMisfit(path) || path.from !== 'cluster' ? [] : [path])) };
    const { paths, ofCluster } = known;
    return ofCluster.length === 0 ? paths : paths + JSON.stringify(ofCluster.map((path) => valuesAt(path, cluster)));
  };
}

function digestOf(found: readonly (ModelPath | PathMisfit)[]): string {
  const printed = found.map((path) => (isMisfit(path) ? null : [startOf(path), path.steps, printTypeReference(path.type)]));
  return createHash('sha256').update(JSON.stringify(printed)).digest('base64url');
}

function startOf(path: ModelPath): string {
  if (path.from === 'relation') return `${path.relation.name} ${startOf(path.within)}`;
  return path.from === 'column' ? `column ${path.column.name}` : path.from;
}

function valuesAt(path: ModelPath, cluster: ClusterAttributes): readonly Json[] {
  const values: Json[] = [];
  const collect = (value: Json) => {
    values.push(value);
    return false;
  };
  hasMatchingValue(
    path,
    { value: null, context: { cluster: { ...cluster }, served: {}, computed: new Map(), read: { values: 0 } } },
    collect,
  );
  return values;
}
