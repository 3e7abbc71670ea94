import { conflictsIn, type FieldManagerConflict } from '../../changes/describe-fault.ts';
import { fieldManager, type ObjectAddress, type ObjectCallResult, type ObjectClient } from '../../changes/object-client.ts';
import type { Fault } from '../../core/faults.ts';
import { objectAt } from '../../core/json-at.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { startDeadline } from '../../core/scheduling/deadline.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import type { ClusterShare, InventoryEntry } from '../model/inventory.ts';
import type { RenderedObject } from '../model/plan.ts';
import { marks } from '../model/propagation.ts';
import { copyFault } from './copies/copy-reason.ts';
import { isRaceFault } from './copies/copy-task.ts';
import { isTakenOverByAnother, ownedByAnotherMessage } from './copies/judge-object.ts';
import { manifestForWrite } from './copies/manifest-for-write.ts';
import { manifestToSend } from './copies/manifest-to-send.ts';
import { hasHiddenValues } from './copies/observed-hash.ts';
import { fingerprintHasPath, isAppliedByUs, withLeftValues } from './copies/owned-fields.ts';
import type { PlannerPorts, PlanRequest } from './snapshot/plan-request.ts';

/** Time limit for all dry runs of one cluster together. */
const timeLimitMs = 10_000;

/** The result of the dry run of one object. */
export type DryRun =
  /** The cluster does not serve the kind, so no dry run was possible. */
  | { readonly result: 'unserved' }
  /**
   * The API server accepts the write. `object` is the object after the write. `conflicts` are the fields that the write takes from other
   * managers by force. `before` is the existing object as read live. It is absent if there is none, and for kinds whose mirrors hold whole
   * objects.
   */
  | {
      readonly result: 'accepted';
      readonly object: KubernetesObject;
      readonly conflicts: readonly FieldManagerConflict[];
      readonly before?: KubernetesObject;
    }
  /** Other managers own fields that Muster wants to set. */
  | { readonly result: 'conflict'; readonly fault: Fault; readonly conflicts: readonly FieldManagerConflict[] }
  /** The mirror is outdated. `live` is the current object. */
  | { readonly result: 'stale'; readonly live: MirroredObject }
  | { readonly result: 'failed'; readonly fault: Fault };

/** The dry runs of one cluster. */
interface ClusterDryRunRequest {
  readonly cluster: ClusterName;
  readonly objects: readonly RenderedObject[];
  /** The inventory of the cluster. Undefined: it has none yet. */
  readonly share: ClusterShare | undefined;
}

/**
 * Sends one dry run to a cluster for each object that the plan would write there. A dry run requires the uid and version of the mirrored
 * object, as the write does, so an outdated mirror is detected.
 *
 * Returns the results by `textOfKey`. There is no result for an object that the plan does not write, and for an object whose namespace or
 * kind the plan itself creates. Ends after 10 s: objects without an answer by then get `TIMED_OUT`. A cluster that is known to be
 * unreachable gets no calls, and its objects fail.
 */
export async function dryRunCluster(
  ports: PlannerPorts,
  request: PlanRequest,
  clusterRequest: ClusterDryRunRequest,
): Promise<ReadonlyMap<string, DryRun>> {
  const { cluster, share } = clusterRequest;
  const objects = clusterRequest.objects.filter(needsDryRun);
  if (objects.length === 0) return new Map();
  const member = ports.members.get(cluster);
  const client = ports.clientOf(cluster, request.spec);
  if (client === undefined || member?.phase === 'UNREACHABLE') {
    const fault = member?.faults[0] ?? copyFault(cluster, 'UNREACHABLE', 'the cluster is not reachable');
    return new Map(objects.map(({ key }) => [textOfKey(key), { result: 'failed', fault }]));
  }
  const entries = new Map((share?.entries ?? []).map((entry) => [textOfKey(entry.key), entry]));
  using deadline = startDeadline(ports.clock, timeLimitMs, request.signal);
  const answers = await Promise.all(
    objects.map(async (object): Promise<[string, DryRun]> => {
      const answer = await dryRunObject({ ports, request, client, entries }, object, deadline.signal);
      const isLate = deadline.hasPassed() && answer.result === 'failed';
      return [
        textOfKey(object.key),
        isLate ? { result: 'failed', fault: copyFault(cluster, 'TIMED_OUT', `no answer within ${timeLimitMs / 1_000} s`) } : answer,
      ];
    }),
  );
  request.signal.throwIfAborted();
  return new Map(answers);
}

/** True for objects that the plan writes. False if the plan itself creates their namespace or kind: a dry run would fail without these. */
function needsDryRun({ action, predicted }: RenderedObject): boolean {
  return !predicted && (action === 'CREATE' || action === 'UPDATE' || action === 'ADOPT');
}

interface DryRunContext {
  readonly ports: PlannerPorts;
  readonly request: PlanRequest;
  readonly client: ObjectClient;
  /** The inventory entries, by `textOfKey`. */
  readonly entries: ReadonlyMap<string, InventoryEntry>;
}

async function dryRunObject(context: DryRunContext, object: RenderedObject, signal: AbortSignal): Promise<DryRun> {
  const { ports, client } = context;
  const resource = ports.members.objects.served(client.cluster, object.key);
  if (resource === undefined || resource === 'absent') return { result: 'unserved' };
  const address = { resource, namespace: resource.namespaced ? object.key.namespace : undefined, name: object.key.name };
  const owned = await copyOfAnother(context, object, { address, signal });
  if (owned !== undefined) return { result: 'failed', fault: owned };
  const whole = await withHiddenValues(context, object, { address, signal });
  if (whole.result !== 'known') return whole;
  const answer = await dryRunWrite(context, whole.object, { address, signal });
  const { before } = whole;
  return answer.result === 'accepted' && before !== undefined ? { ...answer, before } : answer;
}

interface CallTarget {
  readonly address: ObjectAddress;
  readonly signal: AbortSignal;
}

/**
 * Returns a fault if the write would refuse to take the object over, because it is a copy of another Propagation. The proof is in
 * `managedFields`, which no mirror holds. So an object with the marks of another Propagation is read live.
 */
async function copyOfAnother(
  { client, request: { spec, namespace, name, existing } }: DryRunContext,
  { action, live }: RenderedObject,
  { address, signal }: CallTarget,
): Promise<Fault | undefined> {
  const work = { spec, owner: { namespace, name, uid: existing?.uid ?? '' } };
  if (action !== 'ADOPT' || live === undefined || !isTakenOverByAnother(live, work)) return undefined;
  const read = await client.get(address, signal);
  if (read.result !== 'answered' || !isAppliedByUs(read.object) || !isTakenOverByAnother(read.object, work)) return undefined;
  return copyFault(client.cluster, 'CONFLICT', ownedByAnotherMessage(read.object));
}

/**
 * Adds the values that no mirror holds, read live with the identity of the intent: the data of a Secret, and the existing object of a kind
 * with hidden values. These values are never stored or shown. Returns a `DryRun` instead if a read fails, or if the mirror is outdated.
 */
async function withHiddenValues(
  { ports, client, request: { spec } }: DryRunContext,
  object: RenderedObject,
  { address, signal }: CallTarget,
): Promise<DryRun | { readonly result: 'known'; readonly object: RenderedObject; readonly before?: KubernetesObject }> {
  const { cluster } = client;
  if (!hasHiddenValues(object.key, ports)) return { result: 'known', object };
  const sourceOf = (name: string) => {
    const source = ports.members.get(name);
    return source === undefined ? undefined : ports.clientOf(source.name, spec);
  };
  const sent = await manifestToSend(object, { sourceOf, share: { cluster } }, signal);
  if (sent.result === 'failed') return sent;
  const filled = { ...object, desired: sent.manifest };
  if (object.live === undefined) return { result: 'known', object: filled };
  const read = await client.get(address, signal);
  if (read.result === 'failed') return read;
  const isSame = read.result === 'answered' && read.object.metadata.resourceVersion === object.live.metadata.resourceVersion;
  if (!isSame) return staleDryRun(ports, object, read);
  return { result: 'known', object: { ...filled, live: read.object }, before: read.object };
}

async function dryRunWrite(context: DryRunContext, object: RenderedObject, { address, signal }: CallTarget): Promise<DryRun> {
  const { ports, client } = context;
  const write = dryRunCallOf(context, object, address);
  if (write.result !== 'write') return write.dryRun;
  const answer = await write.call(false, signal);
  if (answer.result === 'answered') return { result: 'accepted', object: answer.object, conflicts: [] };
  if (answer.result === 'absent' || isRaceFault(answer.fault)) return staleDryRun(ports, object, await client.get(address, signal));
  const conflicts = conflictsIn(answer.fault);
  const others = conflicts.filter(({ manager }) => manager !== fieldManager);
  if (conflicts.length === 0) return { result: 'failed', fault: answer.fault };
  if (!isForced(context, object, others)) return { result: 'conflict', fault: answer.fault, conflicts: others };
  // The forced dry run returns the object as it would be after Muster has taken the conflicting fields.
  const forced = await write.call(true, signal);
  if (forced.result === 'answered') return { result: 'accepted', object: forced.object, conflicts: others };
  return { result: 'conflict', fault: answer.fault, conflicts: others };
}

type DryRunCall =
  | { readonly result: 'write'; readonly call: (force: boolean, signal: AbortSignal) => Promise<ObjectCallResult> }
  | { readonly result: 'known'; readonly dryRun: DryRun };

/**
 * Returns the call (`write`) that sends the write of the copy as a dry run. It requires the uid and version in the mirror
 * (docs/internals/propagation.md 5.1). Returns the result itself (`known`) if no call is needed: the replacement changes nothing, or cannot
 * be built.
 */
function dryRunCallOf({ client, request, entries }: DryRunContext, object: RenderedObject, address: ObjectAddress): DryRunCall {
  const { key, desired, live } = object;
  if (live === undefined) {
    const guard = { manifest: desired, preconditions: { resourceVersion: '1' }, run: 'dry' } as const;
    return { result: 'write', call: (force, signal) => client.apply({ ...address, ...guard, force }, signal) };
  }
  // The real write leaves the fields in `leftPaths` to other managers: it first gives up their ownership, so they keep their values. A dry
  // run cannot do that. So it sends these fields with their existing values.
  const manifest = withLeftValues(withExistingMarks(desired, live), object, live);
  const { uid, resourceVersion } = live.metadata;
  if (request.spec.write === 'Apply' || isShared(request, entries.get(textOfKey(key)))) {
    const guard = { manifest, preconditions: { uid, resourceVersion }, run: 'dry' } as const;
    return { result: 'write', call: (force, signal) => client.apply({ ...address, ...guard, force }, signal) };
  }
  const owned = manifestForWrite({
    write: 'Replace',
    desired: manifest,
    live,
    exact: request.spec.exact,
    overriding: object.overriding,
  });
  switch (owned.result) {
    case 'write':
      return { result: 'write', call: (_force, signal) => client.replace({ ...address, object: owned.manifest, run: 'dry' }, signal) };
    case 'unchanged':
      return { result: 'known', dryRun: { result: 'accepted', object: live, conflicts: [] } };
    case 'failed': {
      const fault = copyFault(client.cluster, 'INVALID', `${owned.path}: ${owned.message}`);
      return { result: 'known', dryRun: { result: 'failed', fault } };
    }
    default:
      return owned satisfies never;
  }
}

function isShared({ spec: { conflict } }: PlanRequest, entry: InventoryEntry | undefined): boolean {
  return entry === undefined ? conflict === 'ServerSideApply' : entry.state === 'Shared';
}

/** Keeps the existing marks, so that the dry run shows no change of marks. */
function withExistingMarks(manifest: Manifest, { metadata }: KubernetesObject): Manifest {
  const kept = (map: Readonly<Record<string, string>>, names: readonly string[]) =>
    Object.fromEntries(Object.entries(map).filter(([name]) => names.includes(name)));
  const label = kept(metadata.labels ?? {}, [marks.propagation]);
  const notes = kept(metadata.annotations ?? {}, [marks.source, marks.generation, marks.intent]);
  return {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      ...(Object.keys(label).length === 0 ? {} : { labels: { ...objectAt(manifest, 'metadata', 'labels'), ...label } }),
      ...(Object.keys(notes).length === 0 ? {} : { annotations: { ...objectAt(manifest, 'metadata', 'annotations'), ...notes } }),
    },
  };
}

/**
 * True if the write may overwrite these fields of other managers: Muster sent all of them before (docs/internals/propagation.md 7), or
 * `conflict` is Overwrite.
 */
function isForced(
  { request: { spec }, entries }: DryRunContext,
  { key }: RenderedObject,
  others: readonly FieldManagerConflict[],
): boolean {
  const sent = entries.get(textOfKey(key))?.sent ?? '';
  return spec.conflict === 'Overwrite' || others.every(({ path }) => fingerprintHasPath(sent, path));
}

/**
 * Turns the answer of a live read into the `stale` result. The object has what a mirror would hold: only metadata for a kind with hidden
 * values. Returns `failed` if the read failed.
 */
function staleDryRun(ports: PlannerPorts, { key }: RenderedObject, answer: ObjectCallResult): DryRun {
  const nowMs = ports.clock.now();
  switch (answer.result) {
    case 'answered': {
      const { metadata } = answer.object;
      const object = hasHiddenValues(key, ports) ? { apiVersion: key.apiVersion, kind: key.kind, metadata } : answer.object;
      return { result: 'stale', live: { result: 'held', object, asOfMs: nowMs } };
    }
    case 'absent':
      return { result: 'stale', live: { result: 'absent', asOfMs: nowMs } };
    case 'failed':
      return { result: 'failed', fault: answer.fault };
    default:
      return answer satisfies never;
  }
}
