import { shortenedList } from '../../core/text.ts';
import { portionOf } from '../../propagate/rollout/next-waves.ts';
import { isEnded, isHalted, isReturning } from '../model/migrated-app.ts';
import type { MigrationSpec } from '../model/migration.ts';
import { type HookCall, type MigratedApp, type MigrationStatus, maxAppObjects } from '../model/migration-status-definition.ts';

/** True if the application still has objects to delete in the source, and that cluster is away. */
function isPending(app: MigratedApp): boolean {
  return app.source.some(({ state }) => state === 'PendingDeletion') && !isReturning(app) && !isEnded(app);
}

/** True if the application waits for another application of the same Propagation. The other application may have failed. */
function waitsForSibling(app: MigratedApp): boolean {
  return app.reason === 'SurgeHeld' && !isReturning(app) && !isEnded(app);
}

/** True if the application takes a slot of `maxConcurrency`. */
function takesSlot(app: MigratedApp): boolean {
  if (isHalted(app) || isPending(app)) return false;
  return isReturning(app) ? hasReturnBegun(app) : !isEnded(app) && app.step !== 'Preflight';
}

/** True if the undo of the application has begun, so that it has a slot. `deadlineSince` is set when the undo begins. */
function hasReturnBegun({ undo, deadlineSince }: MigratedApp): boolean {
  return undo?.isRequested === true && deadlineSince !== undefined;
}

/** Returns the call of the hook for an operation. Undefined if it was not recorded yet. */
export function callOf({ calls }: Pick<MigratedApp, 'calls'>, operation: HookCall['operation']): HookCall | undefined {
  return calls.find((call) => call.operation === operation);
}

/**
 * Returns the indexes of the applications that may run now: those that have begun, and as many further ones as `maxConcurrency` allows.
 * Undos begin first, in reverse order, and then moves, in order. None begins while a failure pauses the migration. Applications of one
 * Propagation count as one for `maxConcurrency`, because they wait for each other.
 */
export function runnableApps(status: MigrationStatus, spec: Pick<MigrationSpec, 'maxConcurrency' | 'onFailure'>): readonly number[] {
  const apps = status.apps ?? [];
  const limit = spec.maxConcurrency === undefined ? apps.length : Math.max(1, portionOf(spec.maxConcurrency, apps.length));
  const running = apps.flatMap((app, index) => (takesSlot(app) ? [index] : []));
  const pending = apps.flatMap((app, index) => (isPending(app) ? [index] : []));
  if (isPausedBy(status, spec)) return [...running, ...pending];
  const returning = apps.flatMap((app, index) => (isReturning(app) && !hasReturnBegun(app) && !isHalted(app) ? [index] : [])).toReversed();
  const waiting = apps.flatMap((app, index) => (app.step === 'Preflight' && !isReturning(app) && !isHalted(app) ? [index] : []));
  const slotOf = (index: number) => apps[index]?.propagation?.uid ?? index;
  const slots = new Set(running.map(slotOf));
  const begun = [...returning, ...waiting].filter((index) => {
    const slot = slotOf(index);
    if (!slots.has(slot) && slots.size >= limit) return false;
    slots.add(slot);
    return true;
  });
  return [...running, ...pending, ...begun];
}

/** True if a failure keeps further applications from beginning. */
function isPausedBy({ apps = [] }: MigrationStatus, { onFailure }: Pick<MigrationSpec, 'onFailure'>): boolean {
  return apps.some((app) => isHalted(app) && (onFailure === 'Pause' || isReturning(app)));
}

/** Returns the phase of a Migration whose plan is recorded. */
function phaseOf(status: MigrationStatus, spec: Pick<MigrationSpec, 'onFailure'>): NonNullable<MigrationStatus['phase']> {
  const { apps = [], undoSince } = status;
  if (isPausedBy(status, spec)) return 'Paused';
  const open = apps.filter((app) => (isReturning(app) || !isEnded(app)) && !isHalted(app) && !isPending(app) && !waitsForSibling(app));
  if (open.length > 0) return open.every(isReturning) ? 'RollingBack' : 'Rolling';
  if (undoSince !== undefined) return 'Settled';
  if (apps.some(({ step }) => step === 'Undone')) return 'Failed';
  return apps.every(({ step }) => step === 'Done') ? 'Settled' : 'Degraded';
}

/**
 * Returns the status with the phase and the notes that follow from the states of its applications. Returns a status without a plan
 * unchanged.
 */
export function summarized(status: MigrationStatus, spec: Pick<MigrationSpec, 'onFailure' | 'from' | 'traffic'>): MigrationStatus {
  if (status.plannedAt === undefined) return status;
  const kept = (status.notes ?? []).filter(({ code }) => !progressCodes.has(code));
  return { ...status, phase: phaseOf(status, spec), notes: [...kept, ...progressNotes(status, spec)] };
}

/** The codes of the notes that follow from the states of applications. */
const progressCodes: ReadonlySet<string> = new Set(['POSSIBLY_DOUBLED', 'HOOK_FAILED', 'NOT_RESTORED', 'STILL_NEEDED', 'COPY_DIFFERS']);

/** Maximum number of notes of each kind: about objects that were replaced, not restored, still needed, or edited. */
const maxObjectNotes = 100;

function progressNotes({ apps = [] }: MigrationStatus, { from, traffic }: Pick<MigrationSpec, 'from' | 'traffic'>) {
  const pending = apps.filter((app) => app.source.some(({ state }) => state === 'PendingDeletion'));
  const doubled = `applications may run in ${from} too, because that cluster does not answer: ${namesOf(pending)}`;
  const failed = apps.filter((app) => callOf(app, 'Finish')?.state === 'Failed');
  const lost = apps.flatMap(({ undo }) => undo?.lost ?? []);
  const moved = apps.filter(({ step }) => step !== 'Undone');
  const held = moved.flatMap(({ undo }) => undo?.held ?? []);
  const differing = moved.flatMap(({ undo }) => undo?.differing ?? []);
  const replaced = moved.flatMap(({ undo }) => undo?.replaced ?? []);
  const refused = `the hook ${traffic ?? ''} did not accept that the move has finished: ${namesOf(failed)}`;
  return [
    ...(pending.length === 0 ? [] : [{ severity: 'WARNING', code: 'POSSIBLY_DOUBLED', message: doubled }]),
    ...replaced.slice(0, maxObjectNotes).map((message) => ({ severity: 'WARNING', code: 'POSSIBLY_DOUBLED', message })),
    ...(failed.length === 0 ? [] : [{ severity: 'WARNING', code: 'HOOK_FAILED', message: refused }]),
    ...lost.slice(0, maxObjectNotes).map((message) => ({ severity: 'WARNING', code: 'NOT_RESTORED', message })),
    ...held.slice(0, maxObjectNotes).map((message) => ({ severity: 'WARNING', code: 'STILL_NEEDED', message })),
    ...differing.slice(0, maxObjectNotes).map((message) => ({ severity: 'WARNING', code: 'COPY_DIFFERS', message })),
  ];
}

/** Maximum number of applications that a note names. */
const maxNames = 10;

function namesOf(apps: readonly MigratedApp[]): string {
  const names = apps.map(({ key: { namespace, name } }) => (namespace === undefined ? name : `${namespace}/${name}`));
  return shortenedList(names, maxNames);
}

/**
 * Returns the application at another step, without the fault, the reason and the deadline of the step before. While it is being undone, its
 * reason is the failure that caused the undo, and its deadline stays.
 */
export function atStep({ fault: _fault, ...app }: MigratedApp, step: MigratedApp['step'], now: string): MigratedApp {
  if (app.undo?.isRequested === true) return { ...withCause(app), step, since: now };
  const { deadlineSince: _deadline, ...rest } = withoutReason(app);
  return { ...rest, step, since: now };
}

/** Returns the application without a reason and a message. */
export function withoutReason({ reason: _reason, message: _message, ...app }: MigratedApp): MigratedApp {
  return app;
}

/**
 * Returns an application that is being undone, with the failure that caused the undo as its reason. If there was no failure, it has no
 * reason.
 */
export function withCause(app: MigratedApp): MigratedApp {
  const { reason, message } = app.undo ?? {};
  return { ...withoutReason(app), ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) };
}

/** Records an object that the undo does not restore as it was before the migration, or does not delete. */
export function withLost(app: MigratedApp, message: string): MigratedApp {
  return withMessage(app, 'lost', message);
}

/** Records that an object stays in the source because an object outside the migration needs it. */
export function withHeld(app: MigratedApp, message: string): MigratedApp {
  return withMessage(app, 'held', message);
}

/** Records that an object of the source differs from its copy. */
export function withDiffering(app: MigratedApp, message: string): MigratedApp {
  return withMessage(app, 'differing', message);
}

/** Records that another workload has the name of the application in the source. */
export function withReplaced(app: MigratedApp, message: string): MigratedApp {
  return withMessage(app, 'replaced', message);
}

/** Adds a message to a list of the application. Each message is recorded once. After `maxAppObjects` messages, further ones are dropped. */
function withMessage(app: MigratedApp, list: 'lost' | 'held' | 'differing' | 'replaced', text: string): MigratedApp {
  const known = app.undo?.[list] ?? [];
  const message = text.slice(0, 1_024);
  if (known.includes(message) || known.length >= maxAppObjects) return app;
  return { ...app, undo: { ...app.undo, [list]: [...known, message] } };
}

/** Returns the application without its fault. */
export function withoutFault(app: MigratedApp): MigratedApp {
  if (app.fault === undefined) return app;
  const { fault: _fault, ...rest } = app;
  return rest;
}
