import type { ClusterName } from '../../core/names.ts';
import { groupKindOfKey, namespacedNameOf } from '../../manifests/object-key.ts';
import { createGuardedClient, type GuardedClient } from '../../propagate/apply/guarded-client.ts';
import type { Interest } from '../../propagate/controller/events/interests.ts';
import type { Term } from '../../propagate/controller/lease/lease.ts';
import { retryAfterMs } from '../../propagate/controller/state/work-queue.ts';
import { hubKinds } from '../../propagate/hub/hub.ts';
import type { BackupRead } from '../discover/source-objects.ts';
import type { KeptManifest } from '../hub/app-revision-store.ts';
import { isReturning, unrevertedMoveOf } from '../model/migrated-app.ts';
import type { Migration, MigrationSpec } from '../model/migration.ts';
import type { MigratedApp } from '../model/migration-status-definition.ts';
import { type AppPass, clusterOf, type MigrationSide, recheckMs, type StepOutcome } from './app-pass.ts';
import { runnableApps } from './app-state.ts';
import { moveForward } from './forward-steps.ts';
import type { MigrationRecord } from './migration-record.ts';
import { movePropagated, movePropagatedBack } from './propagated-steps.ts';
import { moveBack } from './return-steps.ts';
import type { MigrationPorts, ValidMigration } from './step-ports.ts';

/** One application of a Migration, and the services for its steps. */
export interface AppRun {
  readonly ports: MigrationPorts;
  readonly term: Term;
  readonly record: MigrationRecord;
  readonly index: number;
  /** The manifests that were read before, by the name of their revision. */
  readonly revisions: Map<string, readonly KeptManifest[]>;
  /** Returns the Migrations that were planned after this one. */
  readonly laterMoves: () => readonly Migration[];
}

/**
 * Runs the steps of an application until it has to wait. Each step is recorded before its first write. Returns the milliseconds until the
 * next pass. Undefined if only a change triggers the next pass.
 */
export async function runApp(run: AppRun): Promise<number | undefined> {
  const { ports, term, record, index } = run;
  const clients = new Map<MigrationSide, GuardedClient>();
  for (let app = appIn(run); app !== undefined; app = appIn(run)) {
    const kept = await keptManifestsOfApp(run, app);
    if (kept === undefined) return term.signal.aborted ? undefined : recheckMs;
    const outcome: StepOutcome = waitForLaterMove(run, app) ?? (await stepOf(appPassOf(run, kept, clients), app));
    if (outcome.type === 'stopped' || term.signal.aborted) return undefined;
    if (outcome.app !== app && !(await record.saveApp(index, app, outcome.app)))
      return term.signal.aborted ? undefined : retryAfterMs(Math.max(1, record.failures), ports.clock.random());
    if (outcome.app.step !== app.step) {
      const { namespace, name } = record.migration.metadata;
      const { kind, namespace: appNamespace, name: of } = app.key;
      ports.log.info({ migration: `${namespace}/${name}`, kind, namespace: appNamespace, name: of, step: outcome.app.step }, 'moves on');
    }
    if (outcome.type === 'wait') return outcome.againMs;
  }
  return undefined;
}

/**
 * Lets the undo of an application that has moved wait until a later move of the application is undone: otherwise the application would run
 * in two clusters. Undefined if there is no later move, or the undo has begun.
 */
function waitForLaterMove({ ports, record, laterMoves }: AppRun, app: MigratedApp): StepOutcome | undefined {
  if (app.step !== 'Done' || !isReturning(app) || app.deadlineSince !== undefined) return undefined;
  const { from, to } = record.migration.spec;
  const other = unrevertedMoveOf(laterMoves(), { key: app.key, clusters: [from, to] });
  if (other === undefined) return undefined;
  const { namespace, name } = other.metadata;
  // The readers of this Migration may have no right to see the other one.
  const shown = ports.visibility === undefined ? `Migration ${namespace}/${name}` : 'another Migration';
  const message = `${shown} has moved it since: undo that one first`;
  const isKnown = app.reason === 'Conflict' && app.message === message;
  return { type: 'wait', app: isKnown ? app : { ...app, reason: 'Conflict', message }, againMs: recheckMs };
}

function stepOf(pass: AppPass, app: MigratedApp): StepOutcome | Promise<StepOutcome> {
  if (app.propagation !== undefined) return isReturning(app) ? movePropagatedBack(pass, app) : movePropagated(pass, app);
  return isReturning(app) ? moveBack(pass, app) : moveForward(pass, app);
}

/** Returns the objects whose changes concern an application. */
export function interestsOfApp(hub: ClusterName, migration: ValidMigration, app: MigratedApp): readonly Interest[] {
  const at = (side: MigrationSide) => {
    const cluster: ClusterName = clusterOf({ migration }, side);
    const keys = [app.key, ...app[side].map(({ key }) => key)];
    return keys.map((key): Interest => ({ cluster, kind: groupKindOfKey(key), objectName: namespacedNameOf(key) }));
  };
  const { propagation } = app;
  const objectName = propagation && { namespace: propagation.namespace, name: propagation.name };
  return [
    ...at('source'),
    ...at('target'),
    ...(objectName === undefined ? [] : [{ cluster: hub, kind: hubKinds.propagation, objectName }]),
  ];
}

/** Returns the application if it may run now. */
function appIn({ record, index }: AppRun): MigratedApp | undefined {
  const { status, spec } = record.migration;
  return runnableApps(status, spec).includes(index) ? status.apps?.[index] : undefined;
}

async function keptManifestsOfApp(
  { ports, term, record, revisions }: AppRun,
  app: MigratedApp,
): Promise<readonly KeptManifest[] | undefined> {
  const name = app.undo?.revision;
  if (name === undefined) return [];
  const known = revisions.get(name);
  if (known !== undefined) return known;
  const read = await ports.revisions.read(record.migration, name, term.signal);
  if (!('fault' in read)) {
    revisions.set(name, read);
    return read;
  }
  const { namespace, name: migration } = record.migration.metadata;
  ports.log.warn(
    { migration: `${namespace}/${migration}`, revision: name, code: read.fault.code },
    'the manifests of an application cannot be read',
  );
  return undefined;
}

function appPassOf(
  { ports, term, record, laterMoves }: AppRun,
  kept: readonly KeptManifest[],
  clients: Map<MigrationSide, GuardedClient>,
): AppPass {
  let backup: Promise<BackupRead> | undefined;
  const pass: AppPass = {
    ...{ ports, kept, laterMoves, signal: term.signal },
    get migration() {
      return record.migration;
    },
    client(side) {
      const known = clients.get(side);
      if (known !== undefined) return known;
      const client = ports.clientOf(clusterOf(pass, side), record.migration.spec);
      if (client === undefined) return undefined;
      const guarded = createGuardedClient({ client, mayWrite: () => term.isLeading() }, term.signal);
      clients.set(side, guarded);
      return guarded;
    },
    backup() {
      const { metadata } = record.migration;
      backup ??= ports.readBackup({ namespace: metadata.namespace, spec: withUsedBackup(record.migration) }, term.signal);
      return backup;
    },
  };
  return pass;
}

/** Returns the spec with the name of the backup that was used, in place of its labels: they may select a newer backup by now. */
function withUsedBackup({ spec, status: { backup: used } }: ValidMigration): MigrationSpec {
  if (used === undefined || spec.backup === undefined || spec.backup.file !== undefined) return spec;
  const { labels: _labels, ...backup } = spec.backup;
  return { ...spec, backup: { ...backup, name: used.name, ...(used.cluster === undefined ? {} : { cluster: used.cluster }) } };
}
