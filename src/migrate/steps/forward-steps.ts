import { numberAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { copyReasonOf } from '../../propagate/plan/copies/copy-reason.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import {
  type AppPass,
  countIn,
  countPathIn,
  entryOf,
  halted,
  isReachable,
  mirroredIn,
  nowOf,
  outcomeOfFault,
  reachObject,
  recheckMs,
  type StepOutcome,
  waitFor,
} from './app-pass.ts';
import { atStep, callOf, withoutFault } from './app-state.ts';
import { callAppHook } from './call-app-hook.ts';
import { changeSpec, type JudgeChange, patchOfReplicas } from './change-objects.ts';
import { type ChangedApp, createCopies, findMissingShared } from './create-copies.ts';
import { waitForHealth, waitForSoak, waitUnhealthy, withoutHealthWait } from './health-wait.ts';
import { patchToKeepClaims } from './keep-owned.ts';
import { checkLeave, targetHealth } from './leave-source.ts';
import {
  isRemovalOpen,
  removalMessage,
  removeObjects,
  withoutPendingRemovals,
  withPendingRemovals,
  withReplacedWorkload,
} from './remove-objects.ts';
import { findUncopiedEdits, judgeSourceChange, recordEdited } from './source-edits.ts';

/** Runs the step of an application that moves to the target. The step is recorded already. */
export async function moveForward(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  switch (app.step) {
    case 'Preflight':
      return { type: 'next', app: atStep(app, 'Surge', nowOf(pass)) };
    case 'Surge':
      return await surge(pass, app);
    case 'Health':
      return checkHealth(pass, app);
    case 'Traffic':
      return await moveTraffic(pass, app);
    case 'Soak':
      return soak(pass, app);
    case 'Drain':
      return await drain(pass, app);
    case 'Remove':
      return await remove(pass, app);
    case 'Done':
    case 'Undone':
    case 'Skipped':
      return { type: 'wait', app };
    default:
      return app.step satisfies never;
  }
}

/** Returns the outcome of several changes. If all were made, it is the result of `next`. */
export function outcomeOfChanges(pass: AppPass, changed: ChangedApp, next: (app: MigratedApp) => StepOutcome): StepOutcome {
  switch (changed.result) {
    case 'done':
      return next(changed.app);
    case 'unsaved':
      return { type: 'next', app: changed.app };
    case 'failed':
      return outcomeOfFault(pass, changed.app, changed.fault);
    case 'held':
      return changed.hold.isFailure ? halted(pass, changed.app, changed.hold) : waitUnhealthy(pass, changed.app, changed.hold.message);
    case 'stopped':
      return { type: 'stopped' };
    default:
      return changed satisfies never;
  }
}

async function surge(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  const missing = await findMissingShared(pass, app);
  if (missing !== undefined) return outcomeOfChanges(pass, missing, (same) => ({ type: 'next', app: same }));
  const created = await createCopies(pass, app, { side: 'target', stage: 'Surge' });
  const now = nowOf(pass);
  return outcomeOfChanges(pass, created, (done) => ({ type: 'next', app: { ...atStep(done, 'Health', now), deadlineSince: now } }));
}

function checkHealth(pass: AppPass, app: MigratedApp): StepOutcome {
  const { phase, message } = targetHealth(pass, app);
  if (phase === 'done') return { type: 'next', app: atStep(app, 'Traffic', nowOf(pass)) };
  return phase === 'failed' ? halted(pass, app, { reason: 'Unhealthy', message }) : waitForHealth(pass, app, message);
}

async function moveTraffic(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  const created = await createCopies(pass, app, { side: 'target', stage: 'Traffic' });
  if (created.result !== 'done') return outcomeOfChanges(pass, created, (done) => ({ type: 'next', app: done }));
  if (created.app !== app) return { type: 'next', app: withoutFault(created.app) };
  const called = await callAppHook(pass, app, 'Shift');
  return called.type === 'over' ? { type: 'next', app: atStep(app, 'Soak', nowOf(pass)) } : called;
}

/** Waits until the soak has ended while the target is healthy. Then the step Drain begins, which changes the source. */
function soak(pass: AppPass, app: MigratedApp): StepOutcome {
  const { phase, message } = targetHealth(pass, app);
  if (phase === 'failed') return halted(pass, app, { reason: 'Unhealthy', message });
  if (phase !== 'done') return waitUnhealthy(pass, app, message);
  return waitForSoak(pass, withoutHealthWait(app)) ?? { type: 'next', app: atStep(app, 'Drain', nowOf(pass)) };
}

async function drain(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  const traffic = trafficKeysIn(pass);
  const removed = { side: 'source', only: (key: MigratedApp['key']) => traffic.has(textOfKey(key)) } as const;
  return await inSource(
    pass,
    app,
    async (present) => {
      const checked = await findUncopiedEdits(pass, present);
      if (checked.result !== 'done') return checked;
      const changed = await removeObjects(pass, checked.app, removed);
      if (changed.result !== 'done' || isRemovalOpen(changed.app, removed)) return changed;
      return await scaleDown(pass, changed.app);
    },
    (done) => {
      if (isRemovalOpen(done, removed)) return waitFor(done, removalMessage(pass, done, removed));
      if (!isScaledDown(pass, done)) return waitFor(done, `waits until its Pods in ${pass.migration.spec.from} have ended`);
      return { type: 'next', app: atStep(done, 'Remove', nowOf(pass)) };
    },
  );
}

async function remove(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  let isEmpty = false;
  const outcome = await inSource(
    pass,
    app,
    (present) => removeObjects(pass, present, { side: 'source' }),
    (done) => {
      if (isRemovalOpen(done, { side: 'source' })) return waitFor(done, removalMessage(pass, done, { side: 'source' }));
      const noted = withReplacedWorkload(pass, done);
      isEmpty = isSameInventory(noted, app) && noted.undo === app.undo;
      return { type: 'next', app: noted };
    },
  );
  // The hook is called once the hub has recorded that no object is left.
  if (!isEmpty) return outcome;
  if (callOf(app, 'Shift') === undefined) return { type: 'next', app: atStep(app, 'Done', nowOf(pass)) };
  const called = await callAppHook(pass, app, 'Finish');
  return called.type === 'over' ? { type: 'next', app: atStep(app, 'Done', nowOf(pass)) } : called;
}

/**
 * Makes a change in the source, and returns the outcome of `next` if it succeeds. If the cluster is away, all objects that are still to be
 * deleted become pending, and the application waits until the cluster is back.
 */
async function inSource(
  pass: AppPass,
  app: MigratedApp,
  change: (app: MigratedApp) => Promise<ChangedApp>,
  next: (app: MigratedApp) => StepOutcome,
): Promise<StepOutcome> {
  const away = (given: MigratedApp, message: string): StepOutcome => ({
    type: 'wait',
    app: { ...withPendingRemovals(given), reason: 'Unreachable', message },
    againMs: recheckMs,
  });
  if (!isReachable(pass, 'source')) return away(app, `${pass.migration.spec.from} does not answer`);
  const changed = await change(withoutPendingRemovals(app));
  const isAway =
    changed.result === 'failed' && changed.fault.cluster === pass.migration.spec.from && copyReasonOf(changed.fault) === 'Unreachable';
  if (isAway) return away(changed.app, changed.fault.message);
  return outcomeOfChanges(pass, changed, (done) => next(withoutHealthWait(withoutFault(done))));
}

function isSameInventory(a: MigratedApp, b: MigratedApp): boolean {
  return a.source.length === b.source.length && a.source.every(({ state }, index) => state === b.source[index]?.state);
}

/** Scales the workload of the source to 0. In the same write, the retention policy of a StatefulSet is changed so that its claims stay. */
async function scaleDown(pass: AppPass, app: MigratedApp): Promise<ChangedApp> {
  const entry = entryOf(app, 'source', app.key);
  if (entry === undefined || entry.state === 'Shared') return { result: 'done', app };
  const reached = reachObject(pass, 'source', app.key);
  if ('fault' in reached) return { result: 'failed', app, ...reached };
  const check = await checkLeave(pass, app);
  if (check.result !== 'ready') return check.result === 'stopped' ? { result: 'stopped' } : { ...check, app };
  const judge: JudgeChange = (object) => judgeSourceChange(pass, app, { key: app.key, object });
  const patchOf = (object: KubernetesObject) => ({ ...patchOfReplicas(object, countPathIn(pass, app), 0), ...patchToKeepClaims(object) });
  const change = await changeSpec(reached.client, reached.address, { entry, patchOf, judge });
  if (change.result === 'failed') return { ...change, app };
  if (change.result === 'refused') return await recordEdited(pass, app, { key: app.key, object: change.object });
  return change.result === 'stopped' ? change : { result: 'done', app };
}

/**
 * True if the workload has no replicas left in the source, or does not exist there any more. Also true for a workload that has no count: it
 * ends when it is deleted.
 */
function isScaledDown(pass: AppPass, app: MigratedApp): boolean {
  const uid = entryOf(app, 'source', app.key)?.uid;
  const mirrored = mirroredIn(pass, 'source', app.key);
  if (uid === undefined || mirrored.result === 'absent') return true;
  if (mirrored.result === 'unread') return false;
  const { object } = mirrored;
  if (object.metadata.uid !== uid) return true;
  const wanted = countIn(pass, app, object);
  const present = numberAt(object, ...(countPathIn(pass, app, 'status') ?? ['status', 'replicas'])) ?? 0;
  // Deployments do not count Pods that are still ending as replicas.
  const ending = numberAt(object, 'status', 'terminatingReplicas') ?? 0;
  return wanted === undefined || (wanted === 0 && present + ending === 0);
}

/** Returns the `textOfKey`s of the objects that receive traffic in the source. */
function trafficKeysIn({ kept }: AppPass): ReadonlySet<string> {
  const traffic = kept.filter(({ side, stage }) => side === 'source' && stage === 'Traffic');
  return new Set(traffic.map(({ manifest }) => textOfKey(keyOfManifest(manifest))));
}
