import type { MigratedApp } from '../model/migration-status-definition.ts';
import { type AppPass, awayFault, halted, isReachable, nowOf, recheckMs, type StepHold, type StepOutcome } from './app-pass.ts';
import { withoutReason } from './app-state.ts';

/**
 * Returns the outcome for an application that is not healthy in the target: it waits, or has failed if the deadline has passed. The deadline
 * counts from `deadlineSince`. The outcome sets it to the present time if it is missing.
 *
 * @param message Why the application is not healthy.
 */
export function waitForHealth(pass: AppPass, app: MigratedApp, message: string): StepOutcome {
  const { deadline } = pass.migration.spec;
  const waiting = withTargetReason(pass, app.deadlineSince === undefined ? { ...app, deadlineSince: nowOf(pass) } : app);
  if (deadline === undefined) return { type: 'wait', app: waiting, againMs: recheckMs };
  const leftMs = Date.parse(waiting.deadlineSince ?? app.since) + deadline - pass.ports.clock.now();
  if (leftMs > 0) return { type: 'wait', app: waiting, againMs: Math.min(leftMs, recheckMs) };
  return halted(pass, waiting, { reason: 'TimedOut', message: `not healthy within ${deadline / 1_000} s: ${message}` });
}

/**
 * Returns the outcome for an application whose source must not be changed, because the target is not healthy. It waits with the reason
 * `Unhealthy`, or has failed if the deadline has passed. It continues by itself once the target is healthy.
 */
export function waitUnhealthy(pass: AppPass, app: MigratedApp, message: string): StepOutcome {
  const outcome = waitForHealth(pass, app, message);
  if (outcome.type !== 'wait' || outcome.app.reason === 'Unreachable' || outcome.app.deadlineSince === undefined) return outcome;
  if (outcome.app.reason === 'Unhealthy' && outcome.app.message === message) return outcome;
  return { ...outcome, app: { ...outcome.app, reason: 'Unhealthy', message } };
}

/** Returns the application with the reason `Unreachable` if the target is away, and without that reason if it is not. */
function withTargetReason(pass: AppPass, app: MigratedApp): MigratedApp {
  if (isReachable(pass, 'target')) return app.reason === 'Unreachable' ? withoutReason(app) : app;
  const { cluster, message } = awayFault(pass, 'target');
  return app.reason === 'Unreachable' ? app : { ...app, reason: 'Unreachable', message: `${cluster}: ${message}` };
}

/** Returns an application that is healthy again, without the reason and the `deadlineSince` of its wait. */
export function withoutHealthWait(app: MigratedApp): MigratedApp {
  if (app.deadlineSince === undefined && app.reason === undefined) return app;
  const { deadlineSince: _deadline, ...rest } = withoutReason(app);
  return rest;
}

/** Returns the outcome of an undo that waits for this reason. It continues by itself once the reason is gone. */
export function waitBecause(app: MigratedApp, { reason, message }: StepHold): StepOutcome {
  const isKnown = app.reason === reason && app.message === message;
  return { type: 'wait', app: isKnown ? app : { ...app, reason, message }, againMs: recheckMs };
}

/** Returns the outcome while the soak of an application lasts. Undefined if the soak has ended. */
export function waitForSoak({ migration: { spec }, ports }: AppPass, app: MigratedApp): StepOutcome | undefined {
  const leftMs = Date.parse(app.since) + spec.soak - ports.clock.now();
  return leftMs > 0 ? { type: 'wait', app, againMs: leftMs } : undefined;
}
