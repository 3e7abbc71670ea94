import { groupOf } from '../../core/kinds.ts';
import { idOfObject } from '../../core/object-ids.ts';
import type { ListArguments, Listed, Row } from '../../load/reads.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import type { InventoryEntry } from '../../propagate/inventory.ts';
import type { PropagationView } from '../../propagate/propagations.ts';
import type { GraphContext } from '../context.ts';

/** Values that one condition may have (docs/guide/query.md, "Filter"). */
const maxUids = 1_000;

/** The copy as the caller may see it. Undefined if it is gone, out of sight, of an unknown kind, or another object has its name now. */
export async function resourceOf(
  { cluster, entry }: { readonly cluster: string; readonly entry: InventoryEntry },
  { model, context }: { readonly model: Model; readonly context: GraphContext },
): Promise<Row | undefined> {
  const { apiVersion, kind, namespace = '', name } = entry.key;
  if (entry.uid === undefined) return undefined;
  const id = idOfObject({ cluster, group: groupOf(apiVersion), kind, namespace, name, uid: entry.uid });
  const { row } = await context.reads.getById(context.read, { model, id, from: 'mirror' });
  return row?.object.metadata.uid === entry.uid ? row : undefined;
}

/** The Jobs of the inventory: those of its uids, whatever labels others wear. The first 1,000 count. */
export function jobsOf(
  { objects }: PropagationView,
  { kind, ...page }: { readonly kind: ModelKind; readonly first: number } & Pick<ListArguments, 'aggregated'>,
  { reads, read }: GraphContext,
): Promise<Listed> {
  const jobs = objects.flatMap(({ entries, cluster }) =>
    entries.filter(({ key }) => key.kind === kind.kind && key.apiVersion.startsWith(`${kind.group}/`)).map(({ uid }) => ({ cluster, uid })),
  );
  const uids = jobs.map(({ uid }) => uid).filter((uid) => uid !== undefined);
  const clusters = [...new Set(jobs.map(({ cluster }) => cluster))].filter((name) => reads.cluster(read, name) !== undefined);
  return reads.list(read, kind, { clusters, where: { path: 'metadata.uid', in: uids.slice(0, maxUids) }, ...page });
}
