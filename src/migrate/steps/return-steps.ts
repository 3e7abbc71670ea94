import { numberAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import {
  type AppPass,
  addressIn,
  awayFault,
  clusterOf,
  entryOf,
  isReachable,
  nowOf,
  outcomeOfFault,
  type StepOutcome,
  waitFor,
} from './app-pass.ts';
import { atStep, callOf, withCause, withoutFault } from './app-state.ts';
import { callAppHook } from './call-app-hook.ts';
import { changeSpec, patchOfReplicas } from './change-objects.ts';
import { type ChangedApp, createCopies, findRemoved, unmarkRestored } from './create-copies.ts';
import { outcomeOfChanges } from './forward-steps.ts';
import { patchOfClaimPolicy } from './keep-owned.ts';
import { isRemovalOpen, removalMessage, removeObjects, withoutPendingRemovals } from './remove-objects.ts';
import { recordedIn } from './source-edits.ts';
import { workloadHealthOf } from './workload-health.ts';

/**
 * Runs one step of the undo of an application. The steps go backwards:
 *
 * 1. From Done, Remove and Drain: the source is restored. Once it is healthy and has its traffic objects, the step is Soak.
 * 2. From Soak and Traffic: the hook moves traffic back, if a Shift was sent. Then the step is Health.
 * 3. From Health and Surge: the copies in the target are deleted. Then the step is Undone.
 */
export async function moveBack(pass: AppPass, given: MigratedApp): Promise<StepOutcome> {
  if (given.deadlineSince === undefined) return { type: 'next', app: { ...withCause(given), deadlineSince: nowOf(pass) } };
  const outcome = await stepBack(pass, given);
  // If the fault did not occur again, it is removed, with the reason that it set.
  const isOver = outcome.type !== 'stopped' && given.fault !== undefined && outcome.app.fault === given.fault;
  return isOver ? { ...outcome, app: withoutFault(withCause(outcome.app)) } : outcome;
}

async function stepBack(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  switch (app.step) {
    case 'Preflight':
      return { type: 'next', app: atStep(app, 'Undone', nowOf(pass)) };
    case 'Done':
    case 'Remove':
    case 'Drain':
      return await restoreSource(pass, app);
    case 'Soak':
    case 'Traffic':
      return await moveTrafficBack(pass, app);
    case 'Health':
    case 'Surge':
      return await removeCopies(pass, app);
    case 'Undone':
    case 'Skipped':
      return { type: 'wait', app };
    default:
      return app.step satisfies never;
  }
}

async function restoreSource(pass: AppPass, given: MigratedApp): Promise<StepOutcome> {
  if (!isReachable(pass, 'source')) return outcomeOfFault(pass, given, awayFault(pass, 'source'));
  const found = await findRemoved(pass, withoutPendingRemovals(given));
  if (found.result !== 'done') return outcomeOfChanges(pass, found, (app) => ({ type: 'next', app }));
  // The intents are recorded before the objects are created.
  if (hasNewIntents(found.app, given)) return { type: 'next', app: found.app };
  const created = await createCopies(pass, found.app, { side: 'source', stage: 'Surge' });
  if (created.result !== 'done') return outcomeOfChanges(pass, created, (app) => ({ type: 'next', app }));
  const restored = await restoreReplicas(pass, created.app);
  if (restored.result !== 'done') return outcomeOfChanges(pass, restored, (app) => ({ type: 'next', app }));
  if (!restored.isHealthy) return waitFor(restored.app, `waits until it is healthy in ${clusterOf(pass, 'source')}`);
  const traffic = await createCopies(pass, restored.app, { side: 'source', stage: 'Traffic' });
  if (traffic.result !== 'done' || hasNewUids(traffic.app, given)) return outcomeOfChanges(pass, traffic, (app) => ({ type: 'next', app }));
  const unmarked = await unmarkRestored(pass, traffic.app);
  return outcomeOfChanges(pass, unmarked, (app) => ({ type: 'next', app: atStep(app, 'Soak', nowOf(pass)) }));
}

/** True if objects were created whose uids are not recorded yet. */
function hasNewUids(after: MigratedApp, before: MigratedApp): boolean {
  return after.source.some(({ key, uid, intent }) => intent !== undefined && uid !== entryOf(before, 'source', key)?.uid);
}

function hasNewIntents(after: MigratedApp, before: MigratedApp): boolean {
  return after.source.some((entry) => entry.state === 'Intended' && entryOf(before, 'source', entry.key)?.intent !== entry.intent);
}

/**
 * Gives a workload that was scaled down its replicas and its retention policy of claims again. `isHealthy`: a live read shows that the
 * workload is healthy. Its mirror may still show it as it was before it was scaled down.
 */
async function restoreReplicas(pass: AppPass, app: MigratedApp): Promise<ChangedApp & { readonly isHealthy?: boolean }> {
  const entry = entryOf(app, 'source', app.key);
  const client = pass.client('source');
  const address = addressIn(pass, 'source', app.key);
  if (client === undefined) return { result: 'failed', app, fault: awayFault(pass, 'source') };
  if ('fault' in address) return { result: 'failed', app, fault: address.fault };
  const found = await client.get(address);
  if (found.result === 'failed') return { ...found, app };
  if (found.result === 'stopped') return found;
  if (found.result === 'absent' || entry === undefined) return { result: 'done', app, isHealthy: false };
  const replicas = app.undo?.replicas ?? app.from;
  const isHealthy = workloadHealthOf(groupKindOfKey(app.key), found.object).phase === 'done';
  const { manifest } = recordedIn(pass, app.key) ?? {};
  // Only a workload without replicas gets them back. Any other number was set by another client.
  const patchOf = (object: KubernetesObject) => ({
    ...(numberAt(object, 'spec', 'replicas') === 0 ? patchOfReplicas(object, replicas) : {}),
    ...(manifest === undefined ? {} : patchOfClaimPolicy(object, manifest)),
  });
  if (entry.state === 'Shared' || Object.keys(patchOf(found.object)).length === 0) return { result: 'done', app, isHealthy };
  const change = await changeSpec(client, address, { entry, patchOf });
  if (change.result === 'failed') return { ...change, app };
  return change.result === 'stopped' ? change : { result: 'done', app, isHealthy: false };
}

async function moveTrafficBack(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  const called = callOf(app, 'Shift') === undefined ? ({ type: 'over' } as const) : await callAppHook(pass, app, 'Undo');
  return called.type === 'over' ? { type: 'next', app: atStep(app, 'Health', nowOf(pass)) } : called;
}

async function removeCopies(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  if (!isReachable(pass, 'target')) return outcomeOfFault(pass, app, awayFault(pass, 'target'));
  const removed = await removeObjects(pass, app, { side: 'target' });
  return outcomeOfChanges(pass, removed, (done) => {
    if (isRemovalOpen(done, { side: 'target' })) return waitFor(done, removalMessage(pass, done, { side: 'target' }));
    const { deadlineSince: _began, ...undone } = atStep(done, 'Undone', nowOf(pass));
    return { type: 'next', app: undone };
  });
}
