import { randomUUID } from 'node:crypto';
import { MusterError } from '../../core/errors.ts';
import type { Fault } from '../../core/faults.ts';
import { objectAt } from '../../core/json-at.ts';
import type { InventoryEntry } from '../../propagate/model/inventory.ts';
import type { KeptManifest } from '../hub/app-revision-store.ts';
import { migrationMarks } from '../model/migration.ts';
import type { AppPlan, MigrationPlan } from '../model/migration-plan.ts';
import type { MigratedApp, MigrationStatus } from '../model/migration-status-definition.ts';
import { sourceManifestOf, withoutSecretData } from './source-manifest.ts';
import type { MigrationPorts, ValidMigration } from './step-ports.ts';

/**
 * The status of a Migration after its plan was made: refused, or to be carried out. `fault`: its manifests could not be recorded on the
 * hub.
 */
export type BegunMigration = { readonly status: MigrationStatus } | { readonly fault: Fault };

/**
 * Plans a Migration, and records the manifests of its applications. Returns the status to record. The phase is `Held` if the plan has
 * another digest than the requested one, and `Failed` if the plan has an error, or if the config of the gateway does not allow the spec. No object is written in the clusters then.
 */
export async function beginMigration(ports: MigrationPorts, migration: ValidMigration, signal: AbortSignal): Promise<BegunMigration> {
  const { annotations, generation } = migration.metadata;
  const resumedAt = annotations[migrationMarks.resumedAt];
  const { plannedAt: _plannedAt, apps: _apps, notes: _notes, ...former } = migration.status;
  const rest = { ...former, observedGeneration: generation, ...(resumedAt === undefined ? {} : { resumedAt }) };
  const plan = await planOrMessage(ports, migration, signal);
  signal.throwIfAborted();
  if (typeof plan === 'string')
    return { status: { ...rest, phase: 'Failed', notes: [{ severity: 'ERROR', code: 'INVALID', message: plan }] } };
  const { digest, notes, backup } = plan;
  const known = {
    ...rest,
    ...{ digest, notes: notes.map(({ severity, code, message }) => ({ severity, code, message })) },
    ...(backup === undefined ? {} : { backup }),
  };
  const requested = annotations[migrationMarks.planDigest];
  if (requested !== undefined && requested !== digest) {
    const message = 'an object, a count or an option differs from the plan with that digest: plan again';
    return { status: { ...known, phase: 'Held', notes: [...known.notes, { severity: 'ERROR', code: 'PLAN_STALE', message }] } };
  }
  if (!plan.ok) return { status: { ...known, phase: 'Failed' } };
  const apps = await recordedApps(ports, migration, { plan, signal });
  if ('fault' in apps) return apps;
  return { status: { ...known, plannedAt: new Date(ports.clock.now()).toISOString(), apps: apps.apps } };
}

/** Returns the plan. Returns the message of the error if the spec names something that the config of the gateway does not allow. */
async function planOrMessage(
  { planner }: MigrationPorts,
  { metadata, spec }: ValidMigration,
  signal: AbortSignal,
): Promise<MigrationPlan | string> {
  try {
    return await planner.plan({ namespace: metadata.namespace, spec, signal });
  } catch (error) {
    if (error instanceof MusterError && error.code === 'BAD_INPUT') return error.message;
    throw error;
  }
}

/** True if the plan of this Migration was refused, and no user has resumed the Migration since then. */
export function isRefused({ status, metadata }: ValidMigration): boolean {
  if (status.plannedAt !== undefined || status.observedGeneration !== metadata.generation) return false;
  return (status.phase === 'Failed' || status.phase === 'Held') && status.resumedAt === metadata.annotations[migrationMarks.resumedAt];
}

/** Maximum number of revisions that are written at the same time. */
const maxWrites = 8;

async function recordedApps(
  { revisions, clock }: MigrationPorts,
  migration: ValidMigration,
  { plan, signal }: { readonly plan: MigrationPlan; readonly signal: AbortSignal },
): Promise<{ readonly apps: readonly MigratedApp[] } | { readonly fault: Fault }> {
  const now = new Date(clock.now()).toISOString();
  const apps: MigratedApp[] = [];
  for (let first = 0; first < plan.apps.length; first += maxWrites) {
    const planned = plan.apps.slice(first, first + maxWrites);
    const recorded = await Promise.all(
      planned.map((app) =>
        app.skipped === undefined && app.propagated === undefined ? revisions.record(migration, keptManifestsOf(app), signal) : undefined,
      ),
    );
    for (const [index, app] of planned.entries()) {
      const revision = recorded[index];
      if (revision !== undefined && 'fault' in revision) return revision;
      apps.push(migratedAppOf(app, { now, revision: revision?.name }));
    }
  }
  return { apps };
}

/** Returns the manifests that the steps and the undo of an application need. */
function keptManifestsOf({ target, source }: AppPlan): readonly KeptManifest[] {
  const created = target.filter(({ action }) => action === 'CREATE');
  const left = source.filter(({ action, stage }) => action === 'DELETE' || stage === 'Traffic');
  return [
    ...created.map(({ stage, desired }): KeptManifest => ({ side: 'target', stage, manifest: withoutSecretData(desired) })),
    ...left.map((one): KeptManifest => ({ side: 'source', stage: one.stage, manifest: sourceManifestOf(one.key, one.object) })),
  ];
}

function migratedAppOf(
  { key, uid, from, to, needs, free, skipped, propagated, target, source }: AppPlan,
  { now, revision }: { readonly now: string; readonly revision: string | undefined },
): MigratedApp {
  const metadata = propagated?.propagation.metadata;
  return {
    ...{ key, from, to, needs, free, since: now, calls: [] },
    ...(uid === undefined ? {} : { uid }),
    ...(skipped === undefined ? { step: 'Preflight' as const } : { step: 'Skipped' as const, ...skipped }),
    ...(metadata === undefined ? {} : { propagation: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid } }),
    source: source.map(
      (one): InventoryEntry => ({
        ...{ key: one.key, health: 'Unknown', state: one.action === 'HOLD' ? 'Shared' : 'Owned' },
        ...(one.uid === undefined ? {} : { uid: one.uid }),
      }),
    ),
    target: target.map((one): InventoryEntry => {
      const { key: own, uid: known } = one;
      if (one.action === 'CREATE') return { key: own, health: 'Unknown', state: 'Intended', intent: randomUUID() };
      return { key: own, health: 'Unknown', state: 'Shared', action: 'Unchanged', ...(known === undefined ? {} : { uid: known }) };
    }),
    ...(skipped === undefined
      ? { undo: { replicas: from, ...placementOf(propagated), ...(revision === undefined ? {} : { revision }) } }
      : {}),
  };
}

/** Returns the placement before the migration, for the undo of a propagated application. */
function placementOf(propagated: AppPlan['propagated']) {
  return propagated === undefined ? {} : { placement: objectAt(propagated.propagation.document, 'placement') };
}
