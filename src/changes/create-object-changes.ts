import { isVisibleIn } from '../access/is-visible-in.ts';
import { MusterError } from '../core/errors.ts';
import { resourceSpelling } from '../core/json/enum-spelling.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { applyManifests } from './apply-manifests.ts';
import { type AddressedTarget, addressOfTarget, type ChangeTarget, parseTargets } from './change-targets.ts';
import { createRedaction, type ObjectChangesOptions, recordChanges, unlessAborted } from './changes-outcome.ts';
import type { ObjectChangeResult, ObjectChanges, ObjectChangesOutcome } from './object-changes.ts';
import type { Cascade, ObjectCallResult, ObjectClient, RunMode } from './object-client.ts';
import { checkPatch, guardedPatch } from './patches.ts';
import { restartPatch, scaleWorkload } from './workload-patches.ts';
import type { WriteContext } from './write-context.ts';
import { absentObjectFault, failedChange, type ObjectWrite, writeObject } from './write-object.ts';
import { WritesInProgress } from './writes-in-progress.ts';

/** Creates the operations on single objects. Each real write is logged with its caller and without values. */
export function createObjectChanges(given: ObjectChangesOptions): ObjectChanges {
  const options = { ...given, inProgress: new WritesInProgress() };
  const change = (context: WriteContext, request: ChangeRequest, attempt: Attempt) =>
    changeTargets(options, { context, ...request }, attempt);
  return {
    apply: (context, request) => applyManifests(options, context, request),
    patch(context, { targets, type, patch, subresource, dryRun }) {
      checkPatch(type, patch);
      return change(context, { targets, dryRun, verb: 'patch' }, ({ client, run }, { target, address }, signal) => () => {
        const guarded = guardedPatch({ type, patch, target, address });
        const request = { ...address, ...guarded, subresource: subresource ?? undefined, run };
        return client.patch(request, signal);
      });
    },
    delete: (context, { targets, cascade, dryRun }) =>
      deleteTargets(options, { context, targets, dryRun, verb: 'delete' }, resourceSpelling(cascade) as Cascade),
    scale(context, { targets, replicas, dryRun }) {
      if (replicas < 0) throw new MusterError('BAD_INPUT', `replicas: expected 0 or more, got ${replicas}`);
      return change(
        context,
        { targets, dryRun, verb: 'scale' },
        ({ client, run }, { target, address }, signal) =>
          (before) =>
            scaleWorkload({ client, address, run, replicas, before, preconditions: target.preconditions }, signal),
      );
    },
    restart(context, { targets, dryRun }) {
      const at = new Date(options.clock.now());
      return change(context, { targets, dryRun, verb: 'restart' }, ({ client, run }, { target, address }, signal) => async (before) => {
        const patch = restartPatch({ kind: target.kind, cluster: target.cluster, before, at });
        if ('fault' in patch) return { result: 'failed', fault: patch.fault };
        return client.patch({ ...address, ...guardedPatch({ type: 'MERGE', patch: patch.patch, target, address }), run }, signal);
      });
    },
  };
}

interface TargetChangesOptions extends ObjectChangesOptions {
  readonly inProgress: WritesInProgress;
}

interface ChangeRequest {
  readonly targets: Parameters<ObjectChanges['restart']>[1]['targets'];
  readonly dryRun: boolean;
  readonly verb: string;
}

interface ClientRun {
  readonly client: ObjectClient;
  readonly run: RunMode;
}

interface AddressedChange {
  readonly target: ChangeTarget;
  readonly address: Extract<AddressedTarget, { readonly result: 'addressed' }>['address'];
}

type Attempt = (
  clientRun: ClientRun,
  change: AddressedChange,
  signal: AbortSignal,
) => (before: KubernetesObject | undefined) => Promise<ObjectCallResult>;

interface ChangeRequestInContext extends ChangeRequest {
  readonly context: WriteContext;
}

/**
 * Changes each target with its own write. All writes start at the same time, and the write queue of each cluster limits those in flight.
 */
async function changeTargets(
  options: TargetChangesOptions,
  request: ChangeRequestInContext,
  attempt: Attempt,
): Promise<ObjectChangesOutcome> {
  const { context, dryRun } = request;
  return eachTarget(options, request, (one, target) => {
    const act = attempt({ client: one.client, run: dryRun ? 'dry' : 'real' }, { target, address: one.address }, context.signal);
    return writeObject(one, async (before) => (before === undefined ? { result: 'absent' } : act(before)), context.signal);
  });
}

/** Deletes each target. The only condition is that the object still has the uid and version that the target names, if it names them. */
async function deleteTargets(
  options: TargetChangesOptions,
  request: ChangeRequestInContext,
  cascade: Cascade,
): Promise<ObjectChangesOutcome> {
  const { context, dryRun } = request;
  return eachTarget(options, request, async ({ client, address, key, redaction, run }, { preconditions }) => {
    const before = dryRun ? await client.get(address, context.signal) : undefined;
    const answer = await client.delete({ ...address, preconditions, cascade, run }, context.signal);
    if (answer.result === 'failed') return failedChange(client.cluster, key, redaction.fault(answer.fault));
    if (answer.result === 'absent') return failedChange(client.cluster, key, absentObjectFault(client.cluster, key));
    const diff = before?.result === 'answered' ? redaction.diff(before.object, undefined) : undefined;
    const { uid } = answer.object.metadata;
    return { cluster: client.cluster, key, action: 'DELETED', uid, ...(diff === undefined ? {} : { diff }), warnings: answer.warnings };
  });
}

function eachTarget(
  options: TargetChangesOptions,
  { context, targets, dryRun, verb }: ChangeRequestInContext,
  act: (one: ObjectWrite, target: ChangeTarget) => Promise<ObjectChangeResult>,
): Promise<ObjectChangesOutcome> {
  const { members, access } = options;
  const { caller, signal } = context;
  return recordChanges(options, { context, verb, dryRun }, async () => {
    const read = parseTargets(targets, { members, access, caller });
    using _writes = options.inProgress.take(caller, read.length);
    const change = async (target: ChangeTarget) => {
      const found = await writeOf(options, { context, target, run: dryRun ? 'dry' : 'real' });
      return 'action' in found ? found : await act(found, target);
    };
    const results = await Promise.all(read.map((target) => unlessAborted(() => change(target), signal)));
    return { results: results.filter((result) => result !== undefined) };
  });
}

interface TargetRequest {
  readonly context: WriteContext;
  readonly target: ChangeTarget;
  readonly run: RunMode;
}

/** Returns the inputs for writing a target, or the failed result if the target cannot be written. An object that the caller may not get is absent. */
async function writeOf(
  { members, access, clientOf, isSensitive }: ObjectChangesOptions,
  { context, target, run }: TargetRequest,
): Promise<ObjectWrite | ObjectChangeResult> {
  const { caller, signal } = context;
  const { cluster, kind } = target;
  const addressed = await addressOfTarget(target, members, signal);
  if (addressed.result === 'failed') return failedChange(cluster, addressed.key, addressed.fault);
  const { address, key } = addressed;
  const { namespace, name } = address;
  const object = { ...(namespace === undefined ? {} : { namespace }), name };
  const visibility = await access.visibilityOf({ caller, cluster, kind, verb: 'get', object }, signal);
  // If the rights cannot be checked, the caller learns why. A forbidden object looks absent.
  if (visibility.type === 'none' && visibility.fault.code !== 'FORBIDDEN') return failedChange(cluster, key, visibility.fault);
  const client = clientOf(cluster, context);
  if (!isVisibleIn(visibility, namespace) || client === undefined) return failedChange(cluster, key, absentObjectFault(cluster, key));
  return { client, address, key, redaction: createRedaction(isSensitive(kind)), run };
}
