import { type Fault, fault } from '../../core/faults.ts';
import { parseClusterName } from '../../core/names.ts';
import type { PropagationPhase } from '../../propagate/model/propagation.ts';
import { migrateInputOf } from '../model/migrate-input.ts';
import { isHalted } from '../model/migrated-app.ts';
import { type Migration, migrationMarks, printMigrationSpec } from '../model/migration.ts';
import type { AppPlan, MigrationPlan } from '../model/migration-plan.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import type { MigrationView } from '../model/migrations.ts';
import type { RequestedMove } from './read-migrate-input.ts';

/** Returns a Migration of the hub as GraphQL shows it. `faults` are the faults of the hub. The faults of its applications are added. */
export function migrationViewOf(migration: Migration, faults: readonly Fault[]): MigrationView {
  const { metadata, spec, status } = migration;
  const { namespace, name, uid, createdAt, annotations } = metadata;
  const { apps = [], notes = [], backup } = status;
  const [from, to] = 'problems' in spec ? ['', ''] : [spec.from, spec.to];
  const user = 'problems' in spec ? undefined : spec.requester?.user;
  return {
    namespace,
    name,
    uid,
    createdAt,
    phase: shownMigrationPhase(migration),
    digest: status.digest ?? annotations[migrationMarks.planDigest] ?? '',
    spec: migrateInputOf(migration),
    from,
    to,
    ...(user === undefined ? {} : { requester: user }),
    ...(backup === undefined ? {} : { backup }),
    apps,
    notes,
    faults: [...faults, ...apps.flatMap((app) => faultsOf(app, { from, to }))],
  };
}

/**
 * Returns the phase to show. A requested undo or resumption is shown at once (`RollingBack`, `Rolling`), even before the engine has seen
 * the request.
 */
export function shownMigrationPhase({ metadata: { annotations, deletionTimestamp }, status }: Migration): PropagationPhase {
  if (deletionTimestamp !== undefined) return 'Deleting';
  if (annotations[migrationMarks.undo] !== undefined && status.undoSince === undefined) return 'RollingBack';
  const phase = status.phase ?? 'Planning';
  const isResumed = annotations[migrationMarks.resumedAt] !== undefined && annotations[migrationMarks.resumedAt] !== status.resumedAt;
  if (!isResumed || !canResume({ status })) return phase;
  return status.plannedAt === undefined && phase !== 'Paused' ? 'Planning' : 'Rolling';
}

/** True if a request to resume has an effect: an application has failed, or the plan was refused. */
export function canResume({ status: { phase, plannedAt, apps = [] } }: Pick<Migration, 'status'>): boolean {
  const isRefused = plannedAt === undefined && (phase === 'Failed' || phase === 'Held');
  return phase === 'Paused' || isRefused || apps.some(isHalted);
}

/** Shows a plan as a Migration with this phase. The result has no uid, because it was not read from the hub. */
export function plannedView({ name, spec }: RequestedMove, plan: MigrationPlan, phase: PropagationPhase): MigrationView {
  const { requester, ...content } = spec;
  const document = printMigrationSpec(content);
  const { digest, backup, notes, faults } = plan;
  const since = new Date(plan.asOfMs).toISOString();
  const metadata = name as Migration['metadata'];
  return {
    ...name,
    phase,
    digest,
    spec: migrateInputOf({ metadata, spec: content, document }),
    from: spec.from,
    to: spec.to,
    ...(requester === undefined ? {} : { requester: requester.user }),
    ...(backup === undefined ? {} : { backup }),
    apps: plan.apps.map((app) => plannedApp(app, since)),
    notes,
    faults,
  };
}

/** Shows an application on which the engine has not worked yet: in the step Preflight, or Skipped. */
function plannedApp({ key, uid, from, to, needs, free, skipped, propagated }: AppPlan, since: string): MigratedApp {
  const metadata = propagated?.propagation.metadata;
  return {
    key,
    ...(uid === undefined ? {} : { uid }),
    step: skipped === undefined ? 'Preflight' : 'Skipped',
    from,
    to,
    ...skipped,
    since,
    needs,
    free,
    ...(metadata === undefined ? {} : { propagation: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid } }),
    source: [],
    target: [],
    calls: [],
  };
}

/**
 * Returns the recorded fault of an application, with the cluster in which its step works: the source for Drain, Remove and Done, else the
 * target. At Done, only an undo has work, and it begins in the source.
 */
function faultsOf({ step, fault: recorded }: MigratedApp, { from, to }: Pick<MigrationView, 'from' | 'to'>): readonly Fault[] {
  if (recorded === undefined) return [];
  const cluster = parseClusterName(step === 'Drain' || step === 'Remove' || step === 'Done' ? from : to);
  return cluster === undefined
    ? []
    : [fault(recorded.code, recorded.message, { cluster, retry: 'LATER', sinceMs: Date.parse(recorded.since) })];
}
