import type { VisibleObjects } from '../../changes/acting-clients.ts';
import type { Members } from '../../changes/members.ts';
import type { Fault } from '../../core/faults.ts';
import type { JsonObject } from '../../core/json.ts';
import { apiVersionOf, type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { SemaphoreBounds } from '../../core/scheduling/fair-semaphore.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import type { MigrationSpec } from '../model/migration.ts';
import type { MigrationNote } from '../model/migration-plan.ts';
import type { BackupUsed } from '../model/migration-status-definition.ts';

/** One object of the source, with its key. */
export interface DiscoveredObject {
  readonly key: ObjectKey;
  readonly object: KubernetesObject;
}

/** The objects of the cluster that applications leave: from its mirrors, or from a backup. */
export interface SourceObjects {
  /** Returns all objects of a kind, or those in one namespace. Empty if the source has none, or does not know the kind. */
  all(kind: GroupKind, namespace?: string): readonly DiscoveredObject[];
  /** The backup that has the objects. Absent if they come from the mirrors of the cluster. */
  readonly backup?: SourceBackup;
}

/** A backup as a source. */
export interface SourceBackup {
  readonly used: BackupUsed;
  /** Returns `data` of a Secret. The objects of `all` do not have it. */
  secretData(key: ObjectKey): JsonObject | undefined;
}

/** The result of reading a backup: its objects, or the note that says why there are none. */
export type BackupRead =
  | { readonly result: 'read'; readonly objects: SourceObjects; readonly notes?: readonly MigrationNote[] }
  | { readonly result: 'failed'; readonly note: MigrationNote; readonly fault?: Fault };

/** The spec of a Migration, and the namespace of the Migration: the default namespace of its applications. */
export interface BackupReadRequest {
  readonly namespace: string;
  readonly spec: MigrationSpec;
}

/**
 * Reads the backup that a spec names, with the identity of the spec.
 *
 * @throws {MusterError} `BAD_INPUT` if the spec names a file outside the configured folders.
 */
export type ReadBackup = (request: BackupReadRequest, signal: AbortSignal) => Promise<BackupRead>;

/** Maximum number of archives that are read at the same time. Each may have 128 MiB of JSON, and several times as much in memory. */
export const backupBounds: SemaphoreBounds = { permits: 2, permitsPerUser: 1 };

/** Returns the user who takes turns with others in reading archives. */
export function backupUserOf({ requester }: Pick<MigrationSpec, 'requester'>): string {
  return requester?.user ?? '';
}

/** The result of reading a source. `faults` has a fault for each kind that could not be read completely. */
export interface SourceRead {
  readonly objects: SourceObjects;
  readonly faults: readonly Fault[];
  /** The earliest time of sync among the mirrors, in Unix milliseconds. `Infinity` if no mirror was read. */
  readonly asOfMs: number;
}

/** Maximum wait for mirrors that were never read before. */
const maxWaitMs = 10_000;

/** The mirrors to read, and which of their objects may be read. Default of `visibleOf`: all. */
interface LiveSource extends Pick<Members, 'objects'> {
  readonly visibleOf?: ((kind: GroupKind) => Promise<VisibleObjects>) | undefined;
}

/** The objects to read from a cluster. */
interface LiveRead {
  readonly cluster: ClusterName;
  readonly kinds: readonly GroupKind[];
  /** Default: all namespaces. */
  readonly namespace?: string | undefined;
  /** True: a mirror that is behind its cluster is a fault. Default: its objects are read. */
  readonly mustBeInSync?: true;
}

/**
 * Reads these kinds from the mirrors of a cluster. Waits at most 10 s for mirrors that were never read. A kind that the cluster does not
 * serve is empty.
 */
export async function readLiveSource(
  { objects, visibleOf }: LiveSource,
  { cluster, kinds, namespace, mustBeInSync }: LiveRead,
  signal: AbortSignal,
): Promise<SourceRead> {
  await objects.whenRead(
    kinds.map((kind) => ({ cluster, kind })),
    maxWaitMs,
    signal,
  );
  signal.throwIfAborted();
  const found: DiscoveredObject[] = [];
  const faults: Fault[] = [];
  let asOfMs = Number.POSITIVE_INFINITY;
  const visible = new Map(await Promise.all(kinds.map(async (kind) => [kind, await visibleOf?.(kind)] as const)));
  signal.throwIfAborted();
  for (const kind of kinds) {
    const seen = visible.get(kind);
    const served = objects.served(cluster, kind);
    if (served === 'absent') continue;
    const all = objects.all(cluster, kind);
    const state = objects.read(cluster, kind, { namespace: '', name: '' });
    if (all === undefined || served === undefined) {
      if (state.result === 'unread') faults.push(state.fault);
      continue;
    }
    if (state.result !== 'unread') asOfMs = Math.min(asOfMs, state.asOfMs);
    if (mustBeInSync && state.fault !== undefined) faults.push(state.fault);
    if (seen?.fault !== undefined) faults.push(seen.fault);
    const apiVersion = apiVersionOf(served);
    for (const object of all) {
      const { namespace: objectNamespace } = object.metadata;
      if (namespace !== undefined && objectNamespace !== namespace) continue;
      if (seen?.has(objectNamespace) !== false) found.push(sourceObjectOf(object, { apiVersion, kind: kind.kind }));
    }
  }
  return { objects: indexSourceObjects(found), faults, asOfMs };
}

/** Makes a source of these objects, which have `apiVersion` and `kind`. */
export function indexSourceObjects(objects: readonly DiscoveredObject[], backup?: SourceBackup): SourceObjects {
  const byKind = Map.groupBy(objects, ({ key }) => keyOfKind(groupKindOfKey(key)));
  const byNamespace = Map.groupBy(objects, ({ key }) => `${keyOfKind(groupKindOfKey(key))}/${key.namespace ?? ''}`);
  return {
    all: (kind, namespace) =>
      (namespace === undefined ? byKind.get(keyOfKind(kind)) : byNamespace.get(`${keyOfKind(kind)}/${namespace}`)) ?? [],
    ...(backup === undefined ? {} : { backup }),
  };
}

/** Adds the kind, which items of lists do not have, and the key to an object. */
function sourceObjectOf(
  object: KubernetesObject,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
): DiscoveredObject {
  const { name, namespace } = object.metadata;
  return {
    key: { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name },
    object: object.apiVersion === apiVersion && object.kind === kind ? object : { ...object, apiVersion, kind },
  };
}
