import { isDeepStrictEqual } from 'node:util';
import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import { groupKindOfKey, textOfKey } from '../../manifests/object-key.ts';
import { hubKinds } from '../../propagate/hub/hub.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import { marks, type Propagation } from '../../propagate/model/propagation.ts';
import { type PropagationSpec, parseSpec, printSpec } from '../../propagate/model/spec.ts';
import { copyFault } from '../../propagate/plan/copies/copy-reason.ts';
import { isEnded, isReturning } from '../model/migrated-app.ts';
import { type MigratedApp, maxAppObjects } from '../model/migration-status-definition.ts';
import { movedPlacement, returnedPlacement } from '../plan/propagated-app.ts';
import {
  type AppPass,
  awayFault,
  clusterOf,
  countPathIn,
  halted,
  isReachable,
  type MigrationSide,
  nowOf,
  outcomeOfFault,
  readInCluster,
  recheckMs,
  type StepHold,
  type StepOutcome,
} from './app-pass.ts';
import { atStep, callOf, withCause, withLost, withoutReason } from './app-state.ts';
import { callAppHook } from './call-app-hook.ts';
import { waitBecause, waitForHealth, waitForSoak, withoutHealthWait } from './health-wait.ts';
import { isPropagationGone, isSettledIn, propagationOfApp, unhealthyTarget } from './propagated-objects.ts';
import { workloadHealthOf } from './workload-health.ts';

/**
 * Runs the step of a propagated application. The Propagation gets its new placement in Surge, and keeps the copies in the source until
 * Drain: the annotation `muster.dev/held-drain` holds them.
 */
export async function movePropagated(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  const next = (step: MigratedApp['step']): StepOutcome => ({ type: 'next', app: atStep(app, step, nowOf(pass)) });
  const propagation = propagationOfApp(pass, app);
  const returned = returnedSiblingOf(pass, app);
  if (returned !== undefined && !isEnded(app)) return undoWithSibling(app, returned);
  switch (app.step) {
    case 'Preflight':
      return next('Surge');
    case 'Surge': {
      if (propagation === undefined) return missingPropagation(pass, app);
      const { spec } = propagation;
      if ('problems' in spec) return halted(pass, app, { reason: 'Invalid', message: 'the spec of its Propagation is not valid' });
      const { from, to } = pass.migration.spec;
      const placement = objectAt(printSpec({ ...spec, placement: movedPlacement(spec.placement, from, to) }), 'placement');
      const written = await withPlacement(pass, app, { propagation, placement, held: from });
      return written ?? { type: 'next', app: { ...atStep(app, 'Health', nowOf(pass)), deadlineSince: nowOf(pass) } };
    }
    case 'Health':
      if (propagation === undefined) return missingPropagation(pass, app);
      return isSettledIn(pass, propagation, 'target') ? next('Traffic') : targetOutcome(pass, app, propagation);
    case 'Traffic': {
      const called = await callAppHook(pass, app, 'Shift');
      return called.type === 'over' ? next('Soak') : called;
    }
    case 'Soak':
      return soak(pass, app, propagation);
    case 'Drain':
      if (propagation !== undefined && !isReachable(pass, 'source')) return withPendingCopies(pass, app, propagation);
      return (
        (await unhealthyTarget(pass, app, propagation)) ??
        (await releaseHeldDrain(pass, withoutPendingCopies(app), propagation)) ?? { type: 'next', app: atRemove(pass, app) }
      );
    case 'Remove':
      if (propagation !== undefined && !isReachable(pass, 'source')) return withPendingCopies(pass, app, propagation);
      return (await renewHeldDrain(pass, app, propagation)) ?? (await finish(pass, withoutPendingCopies(app), propagation));
    case 'Done':
    case 'Undone':
    case 'Skipped':
      return { type: 'wait', app };
    default:
      return app.step satisfies never;
  }
}

/**
 * Writes the annotation `held-drain` again while copies are left in the source and those in the target are not healthy. Removes it once
 * they are healthy. Undefined if neither is necessary.
 */
async function renewHeldDrain(pass: AppPass, app: MigratedApp, propagation: Propagation | undefined): Promise<StepOutcome | undefined> {
  if (propagation === undefined || isGoneFrom(pass, propagation, 'source')) return undefined;
  const unhealthy = await unhealthyTarget(pass, app, propagation);
  if (unhealthy === undefined) return await releaseHeldDrain(pass, withoutPendingCopies(app), propagation);
  if (propagation.metadata.annotations[marks.heldDrain] !== undefined) return unhealthy;
  const { ports, signal } = pass;
  await ports.propagations.annotate(propagation, { [marks.heldDrain]: pass.migration.spec.from }, signal);
  return signal.aborted ? { type: 'stopped' } : unhealthy;
}

function soak(pass: AppPass, given: MigratedApp, propagation: Propagation | undefined): StepOutcome {
  if (propagation !== undefined && !isSettledIn(pass, propagation, 'target')) return targetOutcome(pass, given, propagation);
  const app = withoutHealthWait(given);
  const open = waitForSoak(pass, app);
  if (open !== undefined) return open;
  const sibling = siblingsOf(pass, app).find(({ step }) => beforeDrain.includes(step));
  if (sibling === undefined) return { type: 'next', app: atStep(app, 'Drain', nowOf(pass)) };
  const message = `its copies in ${pass.migration.spec.from} stay until ${sibling.key.name} of the same Propagation has moved`;
  return { type: 'wait', app: given.message === message ? given : { ...app, reason: 'SurgeHeld', message }, againMs: recheckMs };
}

function atRemove(pass: AppPass, app: MigratedApp): MigratedApp {
  return atStep(withoutPendingCopies(app), 'Remove', nowOf(pass));
}

async function finish(pass: AppPass, app: MigratedApp, propagation: Propagation | undefined): Promise<StepOutcome> {
  const open = await waitUntilGone(pass, app, { propagation, side: 'source' });
  if (open !== undefined) return open;
  const called = callOf(app, 'Shift') === undefined ? ({ type: 'over' } as const) : await callAppHook(pass, app, 'Finish');
  return called.type === 'over' ? { type: 'next', app: atStep(app, 'Done', nowOf(pass)) } : called;
}

/** Returns the outcome of an application whose source is away: it waits, and its copies there are pending until the cluster is back. */
function withPendingCopies(pass: AppPass, app: MigratedApp, propagation: Propagation | undefined): StepOutcome {
  const { cluster, message } = awayFault(pass, 'source');
  const entries = propagation === undefined ? [] : (pass.ports.shares.read(propagation.metadata, cluster)?.entries ?? []);
  const source = entries
    .filter(({ state, uid }) => state !== 'Shared' && uid !== undefined)
    .slice(0, maxAppObjects)
    .map(({ key, uid }): InventoryEntry => ({ key, health: 'Unknown', state: 'PendingDeletion', ...(uid === undefined ? {} : { uid }) }));
  const isKnown = app.reason === 'Unreachable' && source.length === app.source.length;
  const waiting: MigratedApp = isKnown ? app : { ...app, source, reason: 'Unreachable', message: `${cluster}: ${message}` };
  return { type: 'wait', app: waiting, againMs: recheckMs };
}

/** Returns the application without the entries, the reason and the message of `withPendingCopies`. */
function withoutPendingCopies(app: MigratedApp): MigratedApp {
  return app.source.length === 0 && app.reason === undefined ? app : { ...withoutReason(app), source: [] };
}

/**
 * Undoes the move of a propagated application. Its Propagation gets its earlier placement, and keeps the copies in the target until the
 * traffic goes to the source again.
 */
export async function movePropagatedBack(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  if (app.deadlineSince === undefined) return { type: 'next', app: { ...withCause(app), source: [], deadlineSince: nowOf(pass) } };
  const { deadlineSince: _began, ...undone } = atStep(app, 'Undone', nowOf(pass));
  if (app.step === 'Preflight') return { type: 'next', app: undone };
  const propagation = propagationOfApp(pass, app);
  const before = app.undo?.placement;
  if (propagation === undefined && isPropagationGone(pass, app))
    return { type: 'next', app: withLost(undone, missingPropagationMessage(app)) };
  if (propagation === undefined || before === undefined) return missingPropagation(pass, app);
  // A plan that is made while the source is away does not choose it.
  if (!isReachable(pass, 'source')) return outcomeOfFault(pass, app, awayFault(pass, 'source'));
  const placement = placementBack(pass, propagation, before);
  if (placement === undefined) return waitBecause(app, editedPlacement(pass, app));
  const redivision = isDivisionDue(pass, app, propagation) ? 'always' : 'ifChanged';
  const written = await withPlacement(pass, app, { propagation, placement, held: pass.migration.spec.to, redivision });
  if (written !== undefined) return written;
  const open = await waitForSource(pass, app, propagation);
  if (open !== undefined) return open;
  if (callOf(app, 'Shift') !== undefined) {
    const called = await callAppHook(pass, app, 'Undo');
    if (called.type !== 'over') return called;
  }
  // The copies in the target stay until the traffic of each application of the Propagation is back.
  if (siblingsOf(pass, app).some(hasTrafficInTarget)) return { type: 'wait', app, againMs: recheckMs };
  const left = (await releaseHeldDrain(pass, app, propagation)) ?? (await waitUntilGone(pass, app, { propagation, side: 'target' }));
  return left ?? { type: 'next', app: undone };
}

/**
 * Returns the placement that the undo writes: the one before the migration, with all edits since then. Undefined if the edits leave no set that
 * allows the source. Returns the present placement if it needs no change, or if the spec is not valid.
 */
function placementBack({ migration }: AppPass, { document, spec }: Propagation, before: JsonObject): JsonObject | undefined {
  const present = objectAt(document, 'placement');
  const original = parseSpec({ ...document, placement: before });
  if ('problems' in spec || 'problems' in original) return present;
  const { from, to } = migration.spec;
  const returned = returnedPlacement(spec.placement, { before: original.placement, from, to });
  if (returned === original.placement) return before;
  if (returned === undefined || isDeepStrictEqual(returned, spec.placement)) return returned && present;
  return objectAt(printSpec({ ...spec, placement: returned }), 'placement');
}

function editedPlacement({ migration }: AppPass, { propagation: { name } = { namespace: '', name: '', uid: '' } }: MigratedApp): StepHold {
  const { from } = migration.spec;
  const message = `the placement of the Propagation ${name} was edited after the migration, and does not allow ${from} any more: add ${from} to it, and the undo continues`;
  return { reason: 'Conflict', message, isFailure: false };
}

/**
 * Lets the undo of a propagated application wait until its copies in the source are rolled out and healthy. A source that the plan does not
 * choose needs no copies if a chosen cluster has settled copies, and if no traffic of the application goes to the target. Undefined if the
 * undo can continue.
 */
async function waitForSource(pass: AppPass, app: MigratedApp, propagation: Propagation): Promise<StepOutcome | undefined> {
  const { from, to } = pass.migration.spec;
  const hold = (message: string) => waitBecause(app, { reason: 'Unhealthy', message, isFailure: false });
  if (!isExpectedIn(pass, propagation, 'source')) {
    const isElsewhere = propagation.status.clusters?.some(({ wave, phase }) => wave !== undefined && phase === 'Settled') === true;
    return isElsewhere && !hasTrafficInTarget(app) ? undefined : hold(`${to} is needed: the Propagation has no copies in ${from}`);
  }
  const line = propagation.status.clusters?.find(({ cluster }) => cluster === from);
  if (!isSettledIn(pass, propagation, 'source')) return hold(line?.message ?? `its copies in ${from} are not rolled out yet`);
  const live = await readInCluster(pass, 'source', app.key);
  if (live.result === 'stopped') return { type: 'stopped' };
  if (live.result === 'failed') return outcomeOfFault(pass, app, live.fault);
  const health =
    live.object &&
    workloadHealthOf(groupKindOfKey(app.key), live.object, { countPath: countPathIn(pass, app), atLeast: Math.min(app.from, 1) });
  return health?.phase === 'done' ? undefined : hold(health?.message ?? `it does not exist in ${from}`);
}

interface NewPlacement {
  readonly propagation: Propagation;
  readonly placement: JsonObject;
  /** The cluster that the application leaves. Its copies stay until the copies in the other cluster are healthy. */
  readonly held: string;
  /**
   * Requests that all replicas are divided from zero, so that the source gets replicas again. `ifChanged`: only if the placement changes.
   * `always`: even if it does not change. Default: the present division stays if it still fits.
   */
  readonly redivision?: 'ifChanged' | 'always';
}

/** Writes the placement to a Propagation. Undefined if the Propagation has this placement already. */
async function withPlacement(
  pass: AppPass,
  app: MigratedApp,
  { propagation, placement, held, redivision }: NewPlacement,
): Promise<StepOutcome | undefined> {
  const { ports, signal } = pass;
  const { document, spec } = propagation;
  if (redivision !== 'always' && canonicalJson(objectAt(document, 'placement')) === canonicalJson(placement)) return undefined;
  if ('problems' in spec) return halted(pass, app, { reason: 'Invalid', message: 'the spec of its Propagation is not valid' });
  const denied = await changeRefusalOf(pass, propagation);
  if (signal.aborted) return { type: 'stopped' };
  if (denied !== undefined) return outcomeOfFault(pass, app, denied);
  const changed = {
    ...spec,
    ...requesterIn(pass),
    ...(redivision !== undefined && spec.replicas.mode === 'Divided' ? dividedAgain(pass, spec) : {}),
  };
  const change = { document: { ...printSpec(changed), placement }, annotations: { [marks.heldDrain]: held } };
  const written = await ports.propagations.update(propagation, change, signal);
  // The mirror shows the change soon, and triggers the next pass.
  return signal.aborted ? { type: 'stopped' } : { type: 'wait', app, againMs: written.result === 'written' ? recheckMs : retryWriteMs };
}

/** Milliseconds between two divisions from zero that an undo requests. */
const divisionMs = 60_000;

/** True if the undo must request another division: the traffic is to go to the source, and the last division gave the source no replicas. */
function isDivisionDue(pass: AppPass, app: MigratedApp, propagation: Propagation): boolean {
  const { spec } = propagation;
  if ('problems' in spec || spec.replicas.mode !== 'Divided' || !hasTrafficInTarget(app)) return false;
  const lastMs = Date.parse(spec.replicas.rescheduleAt ?? app.since);
  return !isExpectedIn(pass, propagation, 'source') && pass.ports.clock.now() - lastMs > divisionMs;
}

/** Returns the `replicas` of a spec with a request to divide them from zero. */
function dividedAgain(pass: AppPass, { replicas }: PropagationSpec): Pick<PropagationSpec, 'replicas'> {
  return { replicas: { ...replicas, rescheduleAt: nowOf(pass) } };
}

/**
 * Returns the requester to write to a spec that the migration changes: the copies are then written with the rights of the requester of the
 * migration. Empty in local mode.
 */
function requesterIn({ ports, migration: { spec } }: AppPass): Pick<PropagationSpec, 'requester'> {
  return ports.visibility === undefined || spec.requester === undefined ? {} : { requester: spec.requester };
}

/** Returns why the requester of the migration may not change the Propagation. Undefined if the requester may, and in local mode. */
async function changeRefusalOf(
  { ports, migration, signal }: AppPass,
  { metadata: { namespace, name } }: Propagation,
): Promise<Fault | undefined> {
  const { group, kind } = hubKinds.propagation;
  const change = { cluster: ports.hub.cluster, kind: { group, kind }, verb: 'update', object: { namespace, name } } as const;
  return await ports.visibility?.refusalOf(migration.spec, change, signal);
}

/** Milliseconds until a write that failed is tried again. */
const retryWriteMs = 1_000;

/**
 * Removes the annotation `held-drain` from a Propagation, so that it deletes the copies that were held. Undefined if it does not have the
 * annotation.
 */
async function releaseHeldDrain(
  { ports, signal }: AppPass,
  app: MigratedApp,
  propagation: Propagation | undefined,
): Promise<StepOutcome | undefined> {
  if (propagation?.metadata.annotations[marks.heldDrain] === undefined) return undefined;
  const written = await ports.propagations.annotate(propagation, { [marks.heldDrain]: null }, signal);
  return signal.aborted ? { type: 'stopped' } : { type: 'wait', app, againMs: written.result === 'written' ? recheckMs : retryWriteMs };
}

/**
 * True if the status has a line of the cluster: the current plan gives it copies, or copies are left there. Also true while the status is that of an
 * earlier generation.
 */
function isExpectedIn(pass: AppPass, { metadata, status }: Propagation, side: MigrationSide): boolean {
  return (
    status.observedGeneration !== metadata.generation || status.clusters?.some(({ cluster }) => cluster === clusterOf(pass, side)) === true
  );
}

/**
 * Lets the application wait until `isGoneFrom` is true. Undefined if it is. Confirms a held prune that deletes copies of this cluster only:
 * the user has requested the move, so these deletions need no further confirmation.
 */
async function waitUntilGone(
  pass: AppPass,
  app: MigratedApp,
  { propagation, side }: { readonly propagation: Propagation | undefined; readonly side: MigrationSide },
): Promise<StepOutcome | undefined> {
  if (propagation === undefined) return undefined;
  const { ports, signal } = pass;
  const cluster = clusterOf(pass, side);
  const { prune } = propagation.status;
  const isOwn = prune?.clusters.every((one) => one.cluster === cluster) ?? false;
  if (prune !== undefined && isOwn && propagation.metadata.annotations[marks.confirmPrune] !== prune.digest)
    await ports.propagations.annotate(propagation, { [marks.confirmPrune]: prune.digest }, signal);
  if (signal.aborted) return { type: 'stopped' };
  return isGoneFrom(pass, propagation, side) ? undefined : { type: 'wait', app, againMs: recheckMs };
}

/**
 * True if the Propagation has no copies in the cluster that must be deleted. Copies in a cluster that the current plan chooses stay, so they do
 * not count. False while the status is that of an earlier generation.
 */
function isGoneFrom(pass: AppPass, { metadata, status }: Propagation, side: MigrationSide): boolean {
  const cluster = clusterOf(pass, side);
  // A line with a wave belongs to a cluster that the plan has chosen. After an undo, that may be the target.
  return (
    status.observedGeneration === metadata.generation &&
    (status.clusters ?? []).every((line) => line.cluster !== cluster || line.wave !== undefined)
  );
}

/** Returns the outcome of an application whose copies in the target are not rolled out. */
function targetOutcome(pass: AppPass, app: MigratedApp, { metadata, status }: Propagation): StepOutcome {
  const line = status.clusters?.find(({ cluster }) => cluster === clusterOf(pass, 'target'));
  const message = line?.message ?? `its copies in ${clusterOf(pass, 'target')} are not rolled out yet`;
  const isCurrent = status.observedGeneration === metadata.generation;
  return isCurrent && line?.phase === 'Failed'
    ? halted(pass, app, { reason: line.reason === 'TimedOut' ? 'TimedOut' : 'Unhealthy', message })
    : waitForHealth(pass, app, message);
}

const beforeDrain: readonly MigratedApp['step'][] = ['Preflight', 'Surge', 'Health', 'Traffic'];

/** Returns the other applications of the migration that have the same Propagation, and so the same placement. */
function siblingsOf({ migration }: AppPass, { propagation, key }: MigratedApp): readonly MigratedApp[] {
  const own = textOfKey(key);
  return (migration.status.apps ?? []).filter((one) => one.propagation?.uid === propagation?.uid && textOfKey(one.key) !== own);
}

/**
 * Returns another application of the same Propagation whose undo was requested. Its undo restores the placement for all of them. Undefined
 * if there is none.
 */
function returnedSiblingOf(pass: AppPass, app: MigratedApp): MigratedApp | undefined {
  return siblingsOf(pass, app).find(({ undo }) => undo?.isRequested === true);
}

/**
 * Returns the outcome that requests the undo of an application because another application of its Propagation is being undone: both have the same
 * placement.
 */
function undoWithSibling(app: MigratedApp, { key, reason }: MigratedApp): StepOutcome {
  const { deadlineSince: _deadline, ...rest } = withoutReason(app);
  const why = reason === undefined ? {} : { reason, message: `undone with ${key.name} of the same Propagation` };
  return { type: 'next', app: { ...rest, ...why, undo: { ...app.undo, isRequested: true, ...why } } };
}

/** True if the application is being undone, and its traffic still goes to the target. */
function hasTrafficInTarget(app: MigratedApp): boolean {
  return isReturning(app) && callOf(app, 'Shift') !== undefined && callOf(app, 'Undo')?.state !== 'Done';
}

function missingPropagation(pass: AppPass, app: MigratedApp): StepOutcome {
  return outcomeOfFault(pass, app, copyFault(pass.ports.hub.cluster, 'INVALID', missingPropagationMessage(app)));
}

function missingPropagationMessage({ propagation: { namespace, name } = { namespace: '', name: '', uid: '' } }: MigratedApp): string {
  return `the Propagation ${namespace}/${name} does not exist any more`;
}
