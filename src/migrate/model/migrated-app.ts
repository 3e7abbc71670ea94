import type { ObjectKey } from '../../manifests/manifest.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import type { Migration } from './migration.ts';
import type { MigratedApp, MigratedAppReason } from './migration-status-definition.ts';

/** True if nothing is left to do for the application, unless it is being undone. */
export function isEnded({ step }: Pick<MigratedApp, 'step'>): boolean {
  return step === 'Done' || step === 'Undone' || step === 'Skipped';
}

/** True if the application is being undone, and the undo has not ended. */
export function isReturning({ step, undo }: MigratedApp): boolean {
  return undo?.isRequested === true && step !== 'Undone' && step !== 'Skipped';
}

/**
 * The reasons with which an application always waits. With `Unhealthy` it waits as long as it has `deadlineSince`. With any other reason,
 * it has failed or was skipped.
 */
const waitingReasons: readonly MigratedAppReason[] = ['Unreachable', 'SurgeHeld'];

/** True if the application has failed and waits for a user. While it is being undone, only a failed call of the hook stops it. */
export function isHalted(app: MigratedApp): boolean {
  if (isReturning(app)) return app.calls.some(({ operation, state }) => operation === 'Undo' && state === 'Failed');
  if (isEnded(app) || app.reason === undefined || waitingReasons.includes(app.reason)) return false;
  // An application that waits until its target is healthy has `deadlineSince`. A failed one has not.
  return app.reason !== 'Unhealthy' || app.deadlineSince === undefined;
}

/** A workload, and the clusters between which a migration moves it. */
export interface MovedWorkload {
  readonly key: ObjectKey;
  readonly clusters: readonly string[];
}

/**
 * Returns the first Migration whose move or undo of this workload has not ended, and whose `from` or `to` is one of the clusters. A Migration
 * without a recorded plan has no applications yet.
 */
export function openMoveOf(migrations: readonly Migration[], workload: MovedWorkload): Migration | undefined {
  return moveOf(migrations, workload, (app) => isReturning(app) || !isEnded(app));
}

/**
 * Returns the first Migration that has moved this workload or is moving it, and whose `from` or `to` is one of the clusters. Skips Migrations
 * that have undone the move.
 */
export function unrevertedMoveOf(migrations: readonly Migration[], workload: MovedWorkload): Migration | undefined {
  return moveOf(migrations, workload, ({ step }) => step !== 'Undone' && step !== 'Skipped');
}

function moveOf(
  migrations: readonly Migration[],
  { key, clusters }: MovedWorkload,
  matches: (app: MigratedApp) => boolean,
): Migration | undefined {
  const text = textOfKey(key);
  const isOf = (app: MigratedApp) => [app, ...app.source, ...app.target].some((one) => textOfKey(one.key) === text);
  return migrations.find(({ spec, status: { apps = [] } }) => {
    if ('problems' in spec || !clusters.some((cluster) => cluster === spec.from || cluster === spec.to)) return false;
    return apps.some((app) => matches(app) && isOf(app));
  });
}
