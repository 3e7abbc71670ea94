import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Json } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { isPathSegment } from '../../core/names.ts';
import type { ImportedPropagation, ImportNote, ImportResult } from '../model/import-result.ts';

/** The maximum number of namespaces that are looked up. The notes are about these only. */
const maxLookups = 100;

/**
 * Adds a note `NO_NAMESPACE` for each namespace that Propagations of the result need on the hub, and that is not there. A namespace that an
 * imported Propagation may create on the hub gets no note, nor does one that cannot be read.
 */
export async function withMissingNamespaces(result: ImportResult, hub: ClusterApi, signal: AbortSignal): Promise<ImportResult> {
  const created = new Set(result.propagations.flatMap(({ input }) => namespaceMadeBy(input, hub.cluster) ?? []));
  const needed = [...new Set(result.propagations.map(namespaceOf))].filter((name) => !created.has(name)).slice(0, maxLookups);
  const notes = await Promise.all(needed.map(async (name) => ((await isMissing(hub, name, signal)) ? [noteOf(name, hub.cluster)] : [])));
  return { ...result, notes: [...result.notes, ...notes.flat()] };
}

function namespaceOf({ input }: ImportedPropagation): string {
  return textAt(input, 'namespace') ?? 'default';
}

/** Returns the name of the Namespace that a Propagation writes to the hub. Undefined if it writes none, or not to the hub. */
function namespaceMadeBy(input: Json, hub: string): string | undefined {
  const [first] = listAt(input, 'template');
  const object = valueAt(first, 'json') ?? valueAt(first, 'ref');
  if (textAt(object, 'kind') !== 'Namespace' || textAt(object, 'apiVersion') !== 'v1') return undefined;
  const named = valueAt(input, 'placement', 'clusters');
  const isNamed = !Array.isArray(named) || named.includes(hub);
  return isNamed && !listAt(input, 'placement', 'exclude').includes(hub)
    ? (textAt(object, 'metadata', 'name') ?? textAt(object, 'name'))
    : undefined;
}

async function isMissing(hub: ClusterApi, name: string, signal: AbortSignal): Promise<boolean> {
  if (!isPathSegment(name)) return true;
  const answer = await hub.send({ method: 'GET', path: ['api', 'v1', 'namespaces', name] }, signal);
  return answer.type === 'failed' && answer.fault.code === 'NOT_FOUND';
}

function noteOf(name: string, hub: string): ImportNote {
  const message = `Propagations in the namespace ${name} need it on the hub ${hub}, where it does not exist: create it before you propagate them`;
  return { severity: 'WARNING', code: 'NO_NAMESPACE', message };
}
