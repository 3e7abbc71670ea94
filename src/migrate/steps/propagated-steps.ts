import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt } from '../../core/json-at.ts';
import { marks, type Propagation } from '../../propagate/model/propagation.ts';
import { printSpec } from '../../propagate/model/spec.ts';
import { copyFault } from '../../propagate/plan/copies/copy-reason.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { movedPlacement } from '../plan/propagated-app.ts';
import { type AppPass, clusterOf, halted, nowOf, outcomeOfFault, recheckMs, type Side, type StepOutcome } from './app-pass.ts';
import { atStep, callOf } from './app-state.ts';
import { callAppHook } from './call-app-hook.ts';
import { propagationOfApp } from './propagated-objects.ts';

/**
 * Runs the step of a propagated application. The Propagation gets its new placement in Surge, and keeps the copies in the source until
 * Drain: the annotation `muster.dev/held-drain` holds them.
 */
export async function movePropagated(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  const next = (step: MigratedApp['step']): StepOutcome => ({ type: 'next', app: atStep(app, step, nowOf(pass)) });
  const propagation = propagationOfApp(pass, app);
  switch (app.step) {
    case 'Preflight':
      return next('Surge');
    case 'Surge': {
      if (propagation === undefined) return missing(pass, app);
      const { spec } = propagation;
      if ('problems' in spec) return halted(pass, app, { reason: 'Invalid', message: 'the spec of its Propagation is not valid' });
      const { from, to } = pass.migration.spec;
      const placement = objectAt(printSpec({ ...spec, placement: movedPlacement(spec.placement, from, to) }), 'placement');
      const written = await withPlacement(pass, app, { propagation, placement, held: from });
      return written ?? { type: 'next', app: { ...atStep(app, 'Health', nowOf(pass)), deadlineSince: nowOf(pass) } };
    }
    case 'Health':
      if (propagation === undefined) return missing(pass, app);
      return isSettledIn(pass, propagation, 'target') ? next('Traffic') : waitForHealth(pass, app);
    case 'Traffic': {
      const called = await callAppHook(pass, app, 'Shift');
      return called.type === 'over' ? next('Soak') : called;
    }
    case 'Soak': {
      const leftMs = Date.parse(app.since) + pass.migration.spec.soak - pass.ports.clock.now();
      if (leftMs > 0) return { type: 'wait', app, againMs: leftMs };
      if (propagation !== undefined && !isSettledIn(pass, propagation, 'target')) return { type: 'wait', app, againMs: recheckMs };
      return hasSiblingBeforeDrain(pass, app) ? { type: 'wait', app, againMs: recheckMs } : next('Drain');
    }
    case 'Drain':
      return (await released(pass, app, propagation)) ?? next('Remove');
    case 'Remove': {
      const open = await waitUntilGone(pass, app, { propagation, side: 'source' });
      if (open !== undefined) return open;
      const called = callOf(app, 'Shift') === undefined ? ({ type: 'over' } as const) : await callAppHook(pass, app, 'Finish');
      return called.type === 'over' ? next('Done') : called;
    }
    case 'Done':
    case 'Undone':
    case 'Skipped':
      return { type: 'wait', app };
    default:
      return app.step satisfies never;
  }
}

/**
 * Takes a propagated application back: its Propagation gets the placement of before, and keeps the copies in the target until traffic is
 * back.
 */
export async function movePropagatedBack(pass: AppPass, app: MigratedApp): Promise<StepOutcome> {
  if (app.deadlineSince === undefined) return { type: 'next', app: { ...app, deadlineSince: nowOf(pass) } };
  const { deadlineSince: _began, ...undone } = atStep(app, 'Undone', nowOf(pass));
  if (app.step === 'Preflight') return { type: 'next', app: undone };
  const propagation = propagationOfApp(pass, app);
  const { placement } = app.undo ?? {};
  if (propagation === undefined || placement === undefined) return missing(pass, app);
  const written = await withPlacement(pass, app, { propagation, placement, held: pass.migration.spec.to });
  if (written !== undefined) return written;
  if (!isSettledIn(pass, propagation, 'source')) return { type: 'wait', app, againMs: recheckMs };
  if (callOf(app, 'Shift') !== undefined) {
    const called = await callAppHook(pass, app, 'Undo');
    if (called.type !== 'over') return called;
  }
  const open = (await released(pass, app, propagation)) ?? (await waitUntilGone(pass, app, { propagation, side: 'target' }));
  return open ?? { type: 'next', app: undone };
}

interface NewPlacement {
  readonly propagation: Propagation;
  readonly placement: JsonObject;
  /** The cluster whose copies stay for now. */
  readonly held: string;
}

/** Writes the placement of a Propagation, unless it has it already. Undefined if it has. */
async function withPlacement(
  pass: AppPass,
  app: MigratedApp,
  { propagation, placement, held }: NewPlacement,
): Promise<StepOutcome | undefined> {
  const { ports, signal } = pass;
  const { document, spec } = propagation;
  if (canonicalJson(objectAt(document, 'placement')) === canonicalJson(placement)) return undefined;
  if ('problems' in spec) return halted(pass, app, { reason: 'Invalid', message: 'the spec of its Propagation is not valid' });
  const change = { document: { ...printSpec(spec), placement }, annotations: { [marks.heldDrain]: held } };
  const written = await ports.propagations.update(propagation, change, signal);
  // The mirror shows the change soon, and triggers the next pass.
  return signal.aborted ? { type: 'stopped' } : { type: 'wait', app, againMs: written.result === 'written' ? recheckMs : retryWriteMs };
}

/** Milliseconds until a write that failed is tried again. */
const retryWriteMs = 1_000;

/** Lets the Propagation delete the copies that were held. Undefined if it may already. */
async function released(
  { ports, signal }: AppPass,
  app: MigratedApp,
  propagation: Propagation | undefined,
): Promise<StepOutcome | undefined> {
  if (propagation?.metadata.annotations[marks.heldDrain] === undefined) return undefined;
  const written = await ports.propagations.annotate(propagation, { [marks.heldDrain]: null }, signal);
  return signal.aborted ? { type: 'stopped' } : { type: 'wait', app, againMs: written.result === 'written' ? recheckMs : retryWriteMs };
}

/** True if the copies in the cluster have the current generation, and are rolled out. */
function isSettledIn(pass: AppPass, { metadata, status }: Propagation, side: Side): boolean {
  if (status.observedGeneration !== metadata.generation) return false;
  const line = status.clusters?.find(({ cluster }) => cluster === clusterOf(pass, side));
  return line?.phase === 'Settled' || line?.phase === 'Soaking';
}

/**
 * Waits until the Propagation has no copies in the cluster. Confirms a held prune that deletes copies of this cluster only: what a migration
 * moves needs no confirmation.
 */
async function waitUntilGone(
  pass: AppPass,
  app: MigratedApp,
  { propagation, side }: { readonly propagation: Propagation | undefined; readonly side: Side },
): Promise<StepOutcome | undefined> {
  if (propagation === undefined) return undefined;
  const { ports, signal } = pass;
  const cluster = clusterOf(pass, side);
  const { prune, clusters = [] } = propagation.status;
  const isOwn = prune?.clusters.every((one) => one.cluster === cluster) ?? false;
  if (prune !== undefined && isOwn && propagation.metadata.annotations[marks.confirmPrune] !== prune.digest)
    await ports.propagations.annotate(propagation, { [marks.confirmPrune]: prune.digest }, signal);
  if (signal.aborted) return { type: 'stopped' };
  const isObserved = propagation.status.observedGeneration === propagation.metadata.generation;
  return isObserved && clusters.every((line) => line.cluster !== cluster) ? undefined : { type: 'wait', app, againMs: recheckMs };
}

function waitForHealth(pass: AppPass, app: MigratedApp): StepOutcome {
  const { deadline } = pass.migration.spec;
  if (deadline === undefined) return { type: 'wait', app, againMs: recheckMs };
  const leftMs = Date.parse(app.deadlineSince ?? app.since) + deadline - pass.ports.clock.now();
  if (leftMs > 0) return { type: 'wait', app, againMs: Math.min(leftMs, recheckMs) };
  return halted(pass, app, { reason: 'TimedOut', message: `not healthy within ${deadline / 1_000} s` });
}

/** True if another application of the same Propagation still needs the copies in the source. */
function hasSiblingBeforeDrain({ migration }: AppPass, { propagation, key }: MigratedApp): boolean {
  const early: readonly MigratedApp['step'][] = ['Preflight', 'Surge', 'Health', 'Traffic'];
  return (migration.status.apps ?? []).some(
    (other) => other.propagation?.uid === propagation?.uid && other.key.name !== key.name && early.includes(other.step),
  );
}

function missing(pass: AppPass, app: MigratedApp): StepOutcome {
  const { namespace, name } = app.propagation ?? { namespace: '', name: '' };
  const fault = copyFault(pass.ports.hub.cluster, 'INVALID', `the Propagation ${namespace}/${name} does not exist any more`);
  return outcomeOfFault(pass, app, fault);
}
