import { randomUUID } from 'node:crypto';
import { keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import type { HookCall, MigratedApp } from '../model/migration-status-definition.ts';
import { callHook } from '../traffic/call-hook.ts';
import { hookRequestOf } from '../traffic/hook-request.ts';
import { type AppPass, clusterOf, halted, isReachable, type MigrationSide, nowOf, type StepOutcome } from './app-pass.ts';
import { callOf } from './app-state.ts';
import { propagatedManifests } from './propagated-objects.ts';

/** Time for which `Finish` is tried, in milliseconds. */
const finishMs = 60_000;

/**
 * Does the next part of one operation of the hook. The first time, returns the application with the operation and its new id, to be
 * recorded. Then calls the hook, and returns the application with the result. `over`: the operation has ended, or the migration has no
 * hook. A `Finish` that failed has ended too.
 */
export async function callAppHook(
  pass: AppPass,
  app: MigratedApp,
  operation: HookCall['operation'],
): Promise<StepOutcome | { readonly type: 'over' }> {
  const { ports, migration, signal } = pass;
  const { traffic } = migration.spec;
  if (traffic === undefined) return { type: 'over' };
  const call = callOf(app, operation);
  if (call === undefined) return { type: 'next', app: withNewCall(pass, app, operation) };
  if (call.state === 'Done' || (call.state === 'Failed' && operation === 'Finish')) return { type: 'over' };
  const waitMs = call.nextAt === undefined ? 0 : Date.parse(call.nextAt) - ports.clock.now();
  if (waitMs > 0) return { type: 'wait', app, againMs: waitMs };
  const hook = ports.hookNamed(traffic);
  if (hook === undefined) return refusedCall(pass, app, { call, message: `the config file has no hook ${traffic}` });
  const request = requestOf(pass, app, call);
  if (request === undefined) return refusedCall(pass, app, { call, message: 'the recorded manifests have no workload' });
  const { attempts = 0 } = call;
  const answer = await callHook(hook, { request, attempts, clock: ports.clock }, signal);
  if (signal.aborted) return { type: 'stopped' };
  switch (answer.result) {
    case 'done':
      return { type: 'next', app: withCall(app, { ...withoutAttempts(call), state: 'Done' }) };
    case 'failed':
      return refusedCall(pass, app, { call, message: answer.message });
    case 'again':
      return repeatedCall(pass, app, { call, ...answer });
    default:
      return answer satisfies never;
  }
}

function withNewCall(pass: AppPass, app: MigratedApp, operation: HookCall['operation']): MigratedApp {
  const since = nowOf(pass);
  return { ...withCall(app, { operation, id: randomUUID(), state: 'Sent', since }), deadlineSince: since };
}

/** Returns the application with its failed calls of the hook reset, so that they are made again with the same ids. */
export function withRenewedCalls(app: MigratedApp): MigratedApp {
  return {
    ...app,
    calls: app.calls.map((call) => (call.state === 'Failed' ? { ...withoutAttempts(call), state: 'Sent' as const } : call)),
  };
}

function withoutAttempts({ attempts: _attempts, nextAt: _nextAt, ...call }: HookCall): HookCall {
  return call;
}

function withCall(app: MigratedApp, call: HookCall): MigratedApp {
  return { ...app, calls: [...app.calls.filter(({ operation }) => operation !== call.operation), call] };
}

interface UnansweredCall {
  readonly call: HookCall;
  readonly message: string;
}

function repeatedCall(
  pass: AppPass,
  app: MigratedApp,
  { call, message, afterMs }: UnansweredCall & { readonly afterMs: number },
): StepOutcome {
  const nowMs = pass.ports.clock.now();
  const { deadline } = pass.migration.spec;
  const sinceMs = Date.parse(call.operation === 'Finish' ? call.since : (app.deadlineSince ?? call.since));
  const limitMs = call.operation === 'Finish' ? finishMs : call.operation === 'Shift' ? deadline : undefined;
  if (limitMs !== undefined && nowMs + afterMs > sinceMs + limitMs) {
    if (call.operation === 'Finish') return { type: 'next', app: withCall(app, { ...call, state: 'Failed' }) };
    const failed = withCall(app, { ...call, state: 'Failed' });
    return halted(pass, failed, { reason: 'TimedOut', message: `${message}, and the deadline has passed` });
  }
  const next = { ...call, attempts: (call.attempts ?? 0) + 1, nextAt: new Date(nowMs + afterMs).toISOString() };
  return { type: 'wait', app: withCall(app, next), againMs: afterMs };
}

function refusedCall(pass: AppPass, app: MigratedApp, { call, message }: UnansweredCall): StepOutcome {
  const failed = withCall(app, { ...call, state: 'Failed' });
  return call.operation === 'Finish' ? { type: 'next', app: failed } : halted(pass, failed, { reason: 'HookFailed', message });
}

function requestOf(pass: AppPass, app: MigratedApp, { operation, id }: HookCall) {
  const { migration } = pass;
  const manifests = app.propagation === undefined ? keptInSource(pass) : propagatedManifests(pass, app);
  const workload = manifests.find((manifest) => textOfKey(keyOfManifest(manifest)) === textOfKey(app.key));
  if (workload === undefined) return undefined;
  const at = (side: MigrationSide, replicas: number) => ({ cluster: clusterOf(pass, side), replicas, reachable: isReachable(pass, side) });
  const { namespace, name } = migration.metadata;
  return hookRequestOf({
    ...{ operation, id, workload, manifests },
    migration: { namespace, name },
    from: at('source', app.from),
    to: at('target', app.to),
  });
}

function keptInSource({ kept }: AppPass) {
  return kept.filter(({ side }) => side === 'source').map(({ manifest }) => manifest);
}
