import type { Json } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import type { Propagation } from './propagation.ts';

/**
 * Returns why an imported Propagation must not replace the existing Propagation of the same name: the existing one has another origin, and
 * would lose its copies. Undefined if both were made from the same resource of the same system and cluster.
 *
 * @param source `source` of the new spec. Undefined: the new spec was not imported, and may replace any Propagation.
 */
export function takenNameProblem({ metadata, document }: Propagation, source: Json | undefined): string | undefined {
  const [theirs, ours] = [originOf(valueAt(document, 'source')), originOf(source)];
  if (ours === undefined || theirs?.id === ours.id) return undefined;
  const other = theirs === undefined ? 'was not imported' : `was imported from ${theirs.text}, not from ${ours.text}`;
  return (
    `Propagation ${metadata.namespace}/${metadata.name} exists and ${other}: to propagate this one would replace it and delete its copies. ` +
    'Delete the existing one with deletion policy ORPHAN first, or give this one another name in the output of muster import -o yaml. ' +
    'To replace the existing one on purpose, remove source from the spec of this one'
  );
}

/** Returns the origin that `source` of a spec names: the system, the cluster and the resource. Undefined without a source. */
function originOf(source: Json | undefined): { readonly id: string; readonly text: string } | undefined {
  const system = textAt(source, 'system');
  if (system === undefined) return undefined;
  const cluster = textAt(source, 'cluster');
  const template = listAt(source, 'objects').find((object) => textAt(object, 'role') === 'Template');
  const kind = textAt(template, 'kind') ?? '';
  const place = `${textAt(template, 'namespace') ?? 'default'}/${textAt(template, 'name')}`;
  // A later import may read the resource in another version.
  const group = groupOfApiVersion(textAt(template, 'apiVersion') ?? '');
  const from = cluster === undefined ? 'of a file' : `of cluster ${cluster}`;
  return { id: JSON.stringify([system, cluster ?? null, group, kind, place]), text: `${system} ${kind} ${place} ${from}` };
}
