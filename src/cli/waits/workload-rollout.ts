import { parseListTargets } from '../arguments/object-words.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { fullKindName } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { resolveListTargets } from '../lists/target-kinds.ts';
import { runObjectMutation } from '../writes/write-objects.ts';
import type { ConsentFlags } from '../writes/write-options.ts';
import { resolveTargets } from '../writes/write-targets.ts';
import { awaitObjects } from './await-objects.ts';

/** A rollout command about a workload. */
interface WorkloadRollout {
  readonly action: string;
  /** `KIND/NAME`. */
  readonly word: string;
  readonly flags: ConsentFlags & { readonly namespace?: string; readonly watch: 'true' | 'false'; readonly timeout?: number };
}

const withRollouts = ['Deployment.apps', 'StatefulSet.apps', 'DaemonSet.apps'];

/**
 * Shows the rollout of a workload in each cluster until it is done, or restarts the workload, like `kubectl rollout`.
 *
 * @returns The exit code: 1 if a rollout exceeds its deadline, or the workload is in no cluster.
 * @throws {CommandFailure} for an action other than `status` and `restart`, or for a kind that has no rollouts.
 */
export async function rolloutOfWorkload(session: Session, { action, word, flags }: WorkloadRollout): Promise<number> {
  if (action === 'restart') {
    const { targets, objects } = await resolveTargets(session, [word], flags);
    const list = { name: 'targets', type: '[Target!]!', items: targets };
    const texts = { word: 'restarted', configured: 'restarted', absence: 'allowed' } as const;
    return runObjectMutation(session, { field: 'restart', list, objects, writesPerItem: 1, rest: {}, ...texts }, flags);
  }
  if (action !== 'status')
    throw new CommandFailure(
      exitCodes.refused,
      `expected the name of a Propagation to ${action}, got ${word}: of workloads there are status and restart; kubectl --context CLUSTER rollout ${action} works in one cluster`,
    );
  const targets = parseListTargets([word]);
  for (const { kind, kinds } of await resolveListTargets(session, targets))
    if (!kinds.some((one) => withRollouts.includes(fullKindName(one))))
      throw new CommandFailure(exitCodes.refused, `expected a kind that rolls out (${withRollouts.join(', ')}), got ${kind}`);
  return awaitObjects(session, {
    targets,
    namespaces: [flags.namespace ?? 'default'],
    labels: null,
    where: null,
    untilGone: false,
    fields: '... on PodOwner { rollout { done message } }',
    stateOf: ({ rollout }) =>
      flags.watch === 'false' || rollout?.done === true
        ? 'holds'
        : /exceeded its progress deadline/.test(rollout?.message ?? '')
          ? 'failed'
          : 'pending',
    doneText: ({ rollout }) => rollout?.message ?? 'has no rollout',
    pendingText: ({ rollout }) => rollout?.message ?? '',
    timeoutMs: flags.timeout,
  });
}
