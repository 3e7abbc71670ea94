import { createHash } from 'node:crypto';
import type { Json } from '../../core/json.ts';
import { printTypeReference } from '../../model/model.ts';
import { isMisfit, type ModelPath, type PathMisfit } from '../../model/paths/paths.ts';
import type { ClusterAttributes } from '../query-source.ts';
import { someValue } from './path-values.ts';

/**
 * What a filter's paths mean for the objects of one cluster, as a text: equal as long as the filter finds the same among the same objects. It says
 * what the paths are in the model, and the values of those that begin at the cluster, of no others of its facts.
 *
 * @param found What the paths of one kind were found to be, in order; more may be added until the first call.
 */
export function createMeaning(found: readonly (ModelPath | PathMisfit)[]): (cluster: ClusterAttributes) => string {
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
  someValue(path, { value: null, context: { cluster: { ...cluster }, served: {}, computed: new Map(), read: { values: 0 } } }, collect);
  return values;
}
