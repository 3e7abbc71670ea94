import { keyOfKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey } from '../../manifests/object-key.ts';
import { partKinds } from '../discover/app-kinds.ts';
import { isEnded } from '../model/migrated-app.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { shownKey } from '../plan/preflight-app.ts';
import {
  type AppPass,
  awayFault,
  countIn,
  countPathIn,
  entryOf,
  isReachable,
  nowOf,
  outcomeOfFault,
  reachObject,
  readInCluster,
  type StepOutcome,
  waitFor,
} from './app-pass.ts';
import { atStep, callOf, withCause, withLost, withoutFault } from './app-state.ts';
import { callAppHook } from './call-app-hook.ts';
import { changeSpec, patchOfReplicas } from './change-objects.ts';
import { type ChangedApp, createCopies, findRemoved, unmarkRestored } from './create-copies.ts';
import { outcomeOfChanges } from './forward-steps.ts';
import { waitBecause } from './health-wait.ts';
import { patchOfClaimPolicy } from './keep-owned.ts';
import { checkReturn, isCopy } from './leave-source.ts';
import { isRemovalOpen, removalMessage, removeObjects, withoutPendingRemovals } from './remove-objects.ts';
import { adoptRestored } from './sibling-objects.ts';
import { recordedIn } from './source-edits.ts';

/**
 * Runs one step of the undo of an application. In each step except Preflight, the source is restored first, so that it is there and healthy
 * before the target loses traffic or copies. The steps go backwards:
 *
 * 1. From Done, Remove and Drain: the next step is Soak.
 * 2. From Soak and Traffic: the hook moves traffic back, if a Shift was sent. The next step is Health.
 * 3. From Health and Surge: the copies in the target are deleted. The next step is Undone.
 */
export async function moveBack(pass: AppPass, given: MigratedApp): Promise<StepOutcome> {
  if (given.deadlineSince === undefined) return { type: 'next', app: { ...withCause(given), deadlineSince: nowOf(pass) } };
  const outcome = await stepBack(pass, given);
  // If the fault did not occur again, it is removed, with the reason that it set.
  const isOver = outcome.type !== 'stopped' && given.fault !== undefined && outcome.app.fault === given.fault;
  return isOver ? { ...outcome, app: withoutFault(withCause(outcome.app)) } : outcome;
}

async function stepBack(pass: AppPass, given: MigratedApp): Promise<StepOutcome> {
  if (given.step === 'Preflight') return { type: 'next', app: atStep(given, 'Undone', nowOf(pass)) };
  if (isEnded(given) && given.step !== 'Done') return { type: 'wait', app: given };
  const adopted = await adoptRestored(pass, given);
  if (adopted.result !== 'done') return outcomeOfChanges(pass, adopted, (app) => ({ type: 'next', app }));
  const restored = await restoreSource(pass, given);
  if (restored.type !== 'restored') return restored;
  const { app } = restored;
  switch (app.step) {
    case 'Soak':
    case 'Traffic':
      return await moveTrafficBack(pass, app);
    case 'Health':
    case 'Surge':
      return await removeCopies(pass, app);
    default:
      return { type: 'next', app: atStep(app, 'Soak', nowOf(pass)) };
  }
}

/** The target may lose traffic or copies: the source has all objects and enough healthy replicas, or is away while no copy is healthy. */
interface RestoredSource {
  readonly type: 'restored';
  readonly app: MigratedApp;
}

/**
 * Creates the objects that the source lacks, and gives a workload without replicas its replicas again. Then waits until the workload has enough
 * healthy replicas, and creates its traffic objects. Changes nothing if the source has all of them already.
 */
async function restoreSource(pass: AppPass, given: MigratedApp): Promise<StepOutcome | RestoredSource> {
  const next = (app: MigratedApp): StepOutcome => ({ type: 'next', app });
  if (!isReachable(pass, 'source')) return await withoutSource(pass, given);
  const found = await findRemoved(pass, withoutPendingRemovals(await withMovedOn(pass, given)));
  if (found.result !== 'done') return outcomeOfChanges(pass, found, next);
  // The intents are recorded before the objects are created.
  if (hasNewIntents(found.app, given)) return next(found.app);
  // An autoscaler scales an idle workload down. So autoscalers are created after the traffic is back.
  const isTrafficBack = given.step === 'Health' || given.step === 'Surge';
  const only = (key: ObjectKey) => isTrafficBack || keyOfKind(groupKindOfKey(key)) !== keyOfKind(partKinds.autoscaler);
  const created = await createCopies(pass, found.app, { side: 'source', stage: 'Surge', only });
  if (created.result !== 'done') return outcomeOfChanges(pass, created, next);
  const scaled = await restoreReplicas(pass, created.app);
  if (scaled.result !== 'done') return outcomeOfChanges(pass, scaled, next);
  const check = await checkReturn(pass, scaled.app);
  if (check.result === 'stopped') return { type: 'stopped' };
  if (check.result === 'failed') return outcomeOfFault(pass, scaled.app, check.fault);
  if (check.result === 'held') return waitBecause(scaled.app, check.hold);
  const traffic = await createCopies(pass, scaled.app, { side: 'source', stage: 'Traffic' });
  if (traffic.result !== 'done' || hasNewUids(traffic.app, given)) return outcomeOfChanges(pass, traffic, next);
  const unmarked = await unmarkRestored(pass, traffic.app);
  return unmarked.result === 'done' ? { type: 'restored', app: unmarked.app } : outcomeOfChanges(pass, unmarked, next);
}

/**
 * Returns the outcome while the source is away. The undo waits, except in Surge and Health while no copy is healthy: such copies replace
 * nothing, so they can be deleted.
 */
async function withoutSource(pass: AppPass, app: MigratedApp): Promise<StepOutcome | RestoredSource> {
  const isEarly = app.step === 'Surge' || app.step === 'Health';
  const check = isEarly ? await checkReturn(pass, app) : undefined;
  if (check?.result === 'stopped') return { type: 'stopped' };
  return check?.result === 'ready' ? { type: 'restored', app } : outcomeOfFault(pass, app, awayFault(pass, 'source'));
}

/**
 * Adds a note if the workload of a finished move is gone from the target when its undo begins: another client may have moved it on, so that
 * it runs elsewhere too after the undo.
 */
async function withMovedOn(pass: AppPass, app: MigratedApp): Promise<MigratedApp> {
  if (app.step !== 'Done' || !isReachable(pass, 'target')) return app;
  const copy = await readInCluster(pass, 'target', app.key);
  if (copy.result !== 'read' || (copy.object !== undefined && isCopy(app, copy.object))) return app;
  const { from, to } = pass.migration.spec;
  return withLost(
    app,
    `the copy of ${shownKey(app.key)} was gone from ${to} when the undo began: it may run in another cluster, in addition to ${from}`,
  );
}

/** True if objects were created whose uids are not recorded yet. */
function hasNewUids(after: MigratedApp, before: MigratedApp): boolean {
  return after.source.some(({ key, uid, intent }) => intent !== undefined && uid !== entryOf(before, 'source', key)?.uid);
}

function hasNewIntents(after: MigratedApp, before: MigratedApp): boolean {
  return after.source.some((entry) => entry.state === 'Intended' && entryOf(before, 'source', entry.key)?.intent !== entry.intent);
}

/** Gives a workload that was scaled down its replicas and its retention policy of claims again. */
async function restoreReplicas(pass: AppPass, app: MigratedApp): Promise<ChangedApp> {
  const entry = entryOf(app, 'source', app.key);
  if (entry === undefined || entry.state === 'Shared') return { result: 'done', app };
  const reached = reachObject(pass, 'source', app.key);
  if ('fault' in reached) return { result: 'failed', app, ...reached };
  const replicas = app.undo?.replicas ?? app.from;
  const { manifest } = recordedIn(pass, app.key) ?? {};
  // Only a workload without replicas gets them back. Any other number was set by another client.
  const patchOf = (object: KubernetesObject) => ({
    ...(countIn(pass, app, object) === 0 ? patchOfReplicas(object, countPathIn(pass, app), replicas) : {}),
    ...(manifest === undefined ? {} : patchOfClaimPolicy(object, manifest)),
  });
  const change = await changeSpec(reached.client, reached.address, { entry, patchOf });
  if (change.result === 'failed') return { ...change, app };
  return change.result === 'stopped' ? change : { result: 'done', app };
}

async function moveTrafficBack(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  const called = callOf(app, 'Shift') === undefined ? ({ type: 'over' } as const) : await callAppHook(pass, app, 'Undo');
  return called.type === 'over' ? { type: 'next', app: atStep(app, 'Health', nowOf(pass)) } : called;
}

async function removeCopies(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  if (!isReachable(pass, 'target')) return outcomeOfFault(pass, app, awayFault(pass, 'target'));
  const removed = await removeObjects(pass, app, { side: 'target' });
  if (removed.result === 'held') return waitBecause(removed.app, removed.hold);
  return outcomeOfChanges(pass, removed, (done) => {
    if (isRemovalOpen(done, { side: 'target' })) return waitFor(done, removalMessage(pass, done, { side: 'target' }));
    const { deadlineSince: _began, ...undone } = atStep(done, 'Undone', nowOf(pass));
    return { type: 'next', app: undone };
  });
}
