import { resourceSpelling } from '../core/enum-spelling.ts';
import { MusterError } from '../core/errors.ts';
import type { KubernetesObject } from '../core/objects.ts';
import { applyManifests } from './apply-manifests.ts';
import type { Cascade, ObjectAnswer, ObjectClient, Run } from './object-client.ts';
import type { ObjectWrites, WriteOutcome, WriteResult } from './object-writes.ts';
import { checkPatch, guardedPatch } from './patches.ts';
import { restartPatch, scaledBy } from './workload-patches.ts';
import type { WriteContext } from './write-context.ts';
import { absence, failure, type OneWrite, writeOne } from './write-one.ts';
import { createShown, type ObjectWritesOptions, outcomeOf, tell } from './write-outcome.ts';
import { type Addressed, addressOf, readTargets, type WriteTarget } from './write-targets.ts';

/** Creates the operations on single objects. Each real write is logged with its caller and without values. */
export function createObjectWrites(options: ObjectWritesOptions): ObjectWrites {
  const change = (context: WriteContext, asked: Asked, attempt: Attempt) => changeTargets(options, { context, ...asked }, attempt);
  return {
    apply: (context, asked) => applyManifests(options, context, asked),
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
            scaledBy({ client, address, run, replicas, before, preconditions: target.preconditions }, signal),
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

interface Asked {
  readonly targets: Parameters<ObjectWrites['restart']>[1]['targets'];
  readonly dryRun: boolean;
  readonly verb: string;
}

interface Writing {
  readonly client: ObjectClient;
  readonly run: Run;
}

interface Placed {
  readonly target: WriteTarget;
  readonly address: Extract<Addressed, { readonly result: 'addressed' }>['address'];
}

type Attempt = (writing: Writing, placed: Placed, signal: AbortSignal) => (before: KubernetesObject | undefined) => Promise<ObjectAnswer>;

interface AskedIn extends Asked {
  readonly context: WriteContext;
}

/** Changes each target with a write of its own, at the same time. The write queue of each cluster limits them. */
async function changeTargets(options: ObjectWritesOptions, asked: AskedIn, attempt: Attempt): Promise<WriteOutcome> {
  const { context, dryRun } = asked;
  return eachTarget(options, asked, (one, target) => {
    const act = attempt({ client: one.client, run: dryRun ? 'dry' : 'real' }, { target, address: one.address }, context.signal);
    return writeOne(one, async (before) => (before === undefined ? { result: 'absent' } : act(before)), context.signal);
  });
}

/** Deletes each target, guarded only by the uid and version that the target has. */
async function deleteTargets(options: ObjectWritesOptions, asked: AskedIn, cascade: Cascade): Promise<WriteOutcome> {
  const { context, dryRun } = asked;
  return eachTarget(options, asked, async ({ client, address, key, shown, run }, { preconditions }) => {
    const before = dryRun ? await client.get(address, context.signal) : undefined;
    const answer = await client.delete({ ...address, preconditions, cascade, run }, context.signal);
    if (answer.result === 'failed') return failure(client.cluster, key, shown.fault(answer.fault));
    if (answer.result === 'absent') return failure(client.cluster, key, absence(client.cluster, key));
    const diff = before?.result === 'answered' ? shown.diff(before.object, undefined) : undefined;
    return { cluster: client.cluster, key, action: 'DELETED', ...(diff === undefined ? {} : { diff }), warnings: answer.warnings };
  });
}

async function eachTarget(
  options: ObjectWritesOptions,
  { context, targets, dryRun, verb }: AskedIn,
  act: (one: OneWrite, target: WriteTarget) => Promise<WriteResult>,
): Promise<WriteOutcome> {
  const { members, access, clientOf, isSensitive } = options;
  const { caller, signal } = context;
  const read = readTargets(targets, { members, access, caller });
  const results = await Promise.all(
    read.map(async (target) => {
      const addressed = await addressOf(target, members, signal);
      if (addressed.result === 'failed') return failure(target.cluster, addressed.key, addressed.fault);
      const { address, key } = addressed;
      const sight = await access.visibilityOf({ caller, cluster: target.cluster, kind: target.kind, verb: 'get' }, signal);
      const client = clientOf(target.cluster, caller);
      const isHidden = sight.type === 'none' || (sight.type === 'namespaces' && !sight.namespaces.has(address.namespace ?? ''));
      if (isHidden || client === undefined) return failure(target.cluster, key, absence(target.cluster, key));
      const shown = createShown(isSensitive(target.kind));
      return act({ client, address, key, shown, run: dryRun ? 'dry' : 'real' }, target);
    }),
  );
  if (!dryRun) tell(options.log, { context, verb, results });
  return outcomeOf(results, signal);
}
