import { isEnded, isHalted, isReturning } from '../model/migrated-app.ts';
import { type Migration, migrationMarks } from '../model/migration.ts';
import type { MigratedApp, MigrationStatus } from '../model/migration-status-definition.ts';
import { withoutReason } from './app-state.ts';
import { withRenewedCalls } from './call-app-hook.ts';

/**
 * Returns the status with the requests of users that are not recorded yet: to resume, to undo, or to delete the Migration. Undefined if there
 * are none.
 */
export function withUserRequests({ metadata, status }: Migration, now: string): MigrationStatus | undefined {
  const { annotations, deletionTimestamp } = metadata;
  const [undo, resumedAt] = [annotations[migrationMarks.undo], annotations[migrationMarks.resumedAt]];
  let next = status;
  if (resumedAt !== undefined && resumedAt !== status.resumedAt) {
    next = { ...withApps(next, (app) => (isHalted(app) ? withResumption(app, now) : app)), resumedAt };
  }
  if (undo !== undefined && undo !== status.undoSince) next = { ...withApps(next, withUndoRequest), undoSince: undo };
  const isLeft = (app: MigratedApp) => !isEnded(app) && !isReturning(app);
  if (deletionTimestamp !== undefined && next.apps?.some(isLeft))
    next = withApps(next, (app) => (isLeft(app) ? withUndoRequest(app) : app));
  return next === status ? undefined : next;
}

function withApps(status: MigrationStatus, change: (app: MigratedApp) => MigratedApp): MigrationStatus {
  return status.apps === undefined ? status : { ...status, apps: status.apps.map(change) };
}

/**
 * Returns a failed application so that it continues: without its failure, with a new deadline, and with its failed calls of the hook to be
 * made again.
 */
function withResumption({ fault: _fault, ...app }: MigratedApp, now: string): MigratedApp {
  return { ...withRenewedCalls(withoutReason(app)), deadlineSince: now };
}

/** Requests the undo of the application. If it is being undone already, its failed calls of the hook are made again. */
function withUndoRequest({ fault: _fault, ...app }: MigratedApp): MigratedApp {
  if (app.step === 'Undone' || app.step === 'Skipped') return app;
  if (isReturning(app)) return withRenewedCalls(withoutReason(app));
  const { deadlineSince: _deadline, ...rest } = withoutReason(app);
  return { ...rest, undo: { ...app.undo, isRequested: true } };
}
