import { expect, test } from 'vitest';
import type { Access } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import { noAudit } from '../../../src/audit/audit.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createMigrations } from '../../../src/migrate/api/create-migrations.ts';
import { createMigrationStore, migrationKind } from '../../../src/migrate/hub/migration-store.ts';
import type { MigrateInput } from '../../../src/migrate/model/migrate-input.ts';
import { migrationMarks } from '../../../src/migrate/model/migration.ts';
import type { AppPlan, MigrationNote, MigrationPlan } from '../../../src/migrate/model/migration-plan.ts';
import type { MigratedApp, MigrationStatus } from '../../../src/migrate/model/migration-status-definition.ts';
import type { MigrationView } from '../../../src/migrate/model/migrations.ts';
import { createHubRights, type HubRights } from '../../../src/propagate/api/hub-rights.ts';
import { startPropagationWorld } from '../../support/propagate/propagation-world.ts';

const digest = 'a'.repeat(64);
const room = { pods: 1, cpu: '0', memory: '0' };
const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
const app: AppPlan = { key, uid: 'u', labels: {}, from: 2, to: 2, needs: room, free: room, target: [], source: [] };
const input: MigrateInput = { namespace: 'default', name: 'move', from: 'east', to: 'west', labels: 'app in (web)', traffic: 'upstreams' };
const name = { namespace: 'default', name: 'move' };

interface MigrationsOptions {
  readonly bareHub?: true;
  readonly rights?: HubRights;
}

async function startMigrations({ rights, ...options }: MigrationsOptions = {}) {
  const world = await startPropagationWorld({ hub: [], east: [], west: [] }, options);
  const life = new AbortController();
  const migrations = createMigrationStore(world.hub, life.signal);
  const plan = { notes: [] as readonly MigrationNote[] };
  const planned = (): MigrationPlan => ({
    ...{ digest, ok: plan.notes.length === 0, asOfMs: world.clock.now(), from: clusterName('east'), to: clusterName('west') },
    ...{ needs: room, free: room, apps: [app], notes: plan.notes, faults: [] },
  });
  const operations = createMigrations({
    planner: { plan: async () => planned() },
    members: world.members,
    access: createLocalAccess(),
    audit: noAudit,
    hub: { hub: world.hub, migrations },
    hooks: ['upstreams'],
    ...(rights === undefined ? {} : { rights }),
    requesterOfCaller: () => ({ user: 'mia', groups: [], extra: {} }),
    clock: world.clock,
  });
  const context = { caller: { key: 'local' }, signal: life.signal };
  const stored = async () => {
    const found = await world.pumped(migrations.fetch(name, life.signal));
    if (found !== 'absent' && 'fault' in found) throw new Error(found.fault.message);
    return found === 'absent' ? undefined : found;
  };
  return {
    ...{ world, migrations, operations, context, plan, stored, signal: life.signal },
    migrate: (more: object = {}, { asked, isDryRun = false }: { readonly asked?: string; readonly isDryRun?: boolean } = {}) =>
      world.pumped(operations.migrate(context, { input: { ...input, ...more }, digest: asked, isDryRun })),
    [Symbol.asyncDispose]: async () => {
      life.abort();
      await world[Symbol.asyncDispose]();
    },
  };
}

const shown = ({ phase, notes, apps }: MigrationView) => [phase, notes.map(({ code }) => code), apps.map(({ step }) => step)];

test('a migration is recorded with its requester and the digest of its plan', async () => {
  await using east = await startMigrations();
  const answer = await east.migrate({}, { asked: digest });
  expect([shown(answer), answer.digest, answer.spec]).toEqual([['Planning', [], ['Preflight']], digest, input]);
  const found = await east.stored();
  expect(found?.document).toMatchObject({ from: 'east', to: 'west', traffic: 'upstreams', requester: { user: 'mia' } });
  expect(found?.metadata.annotations).toEqual({ [migrationMarks.planDigest]: digest });
  const page = await east.operations.list(east.context, { phases: ['Planning'] });
  expect([page.totalCount, page.items.map((one) => one.name)]).toEqual([1, ['move']]);
  expect((await east.operations.get(east.context, name))?.requester).toBe('mia');
});

test('M3: nothing is kept of a dry run, of another digest, and of a plan with an error', async () => {
  await using east = await startMigrations();
  expect(shown(await east.migrate({}, { isDryRun: true }))).toEqual(['Planning', [], ['Preflight']]);
  expect(shown(await east.migrate({}, { asked: 'b'.repeat(64) }))).toEqual(['Held', ['PLAN_STALE'], ['Preflight']]);
  east.plan.notes = [{ severity: 'ERROR', code: 'NOTHING_FITS', message: 'no application can be moved' }];
  expect(shown(await east.migrate())).toEqual(['Failed', ['NOTHING_FITS'], ['Preflight']]);
  expect(await east.stored()).toBeUndefined();
});

test.each([
  [{ to: 'east' }, 'to: expected another cluster than east'],
  [{ from: 'nowhere' }, 'no cluster named "nowhere"'],
  [{ traffic: 'unknown' }, 'traffic: expected the name of a hook of the config file, got "unknown"'],
  [{ labels: 'app in' }, 'labels: '],
  [{ copies: 2 }, 'copies: expected a number greater than 0 and at most 1'],
  [{ name: 'Not_A_Name' }, 'name: expected lower-case letters'],
  [{ requester: { user: 'root' } }, 'requester: is set by the gateway'],
])('%j is BAD_INPUT', async (more, message) => {
  await using east = await startMigrations();
  await expect(east.migrate(more)).rejects.toMatchObject({ code: 'BAD_INPUT', message: expect.stringContaining(message) });
  expect(await east.stored()).toBeUndefined();
});

test('the same input resumes a migration that is paused, and another input is refused', async () => {
  await using east = await startMigrations();
  await east.migrate();
  const before = await east.stored();
  if (before === undefined) throw new Error('expected a Migration');
  await east.world.pumped(east.migrations.patchStatus(before, { phase: 'Paused', digest }, east.signal));
  await expect(east.migrate({ copies: 0.5 })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringContaining('exists with another input'),
  });
  expect((await east.migrate()).phase).toBe('Rolling');
  const resumed = await east.stored();
  expect([resumed?.metadata.uid, resumed?.metadata.annotations[migrationMarks.resumedAt]]).toEqual([
    before.metadata.uid,
    expect.stringMatching(/Z$/),
  ]);
});

const failed: MigratedApp = {
  ...{ key, step: 'Health', reason: 'TimedOut' },
  ...{ from: 1, to: 1, since: '2026-11-23T00:00:00Z', source: [], target: [], calls: [] },
  ...{ needs: room, free: room },
};

test.each<readonly [string, MigrationStatus, string, object]>([
  ['of which an application has failed and the others go on', { phase: 'Rolling', plannedAt: failed.since, apps: [failed] }, 'Rolling', {}],
  ['that has ended with a failed application', { phase: 'Degraded', plannedAt: failed.since, apps: [failed] }, 'Rolling', {}],
  ['whose plan was refused', { phase: 'Held' }, 'Planning', { [migrationMarks.planDigest]: undefined }],
])('the same input resumes a migration %s', async (_title, status, phase, annotations) => {
  await using east = await startMigrations();
  await east.migrate({}, { asked: digest });
  const before = await east.stored();
  if (before === undefined) throw new Error('expected a Migration');
  await east.world.pumped(east.migrations.patchStatus(before, { ...status, digest }, east.signal));
  expect((await east.migrate()).phase).toBe(phase);
  const resumed = await east.stored();
  expect(resumed?.metadata.annotations).toEqual({
    ...{ [migrationMarks.planDigest]: digest, [migrationMarks.resumedAt]: expect.stringMatching(/Z$/) },
    ...annotations,
  });
});

test('an undo is requested by an annotation, and shown at once', async () => {
  await using east = await startMigrations();
  await expect(east.world.pumped(east.operations.undo(east.context, name))).rejects.toMatchObject({ code: 'BAD_INPUT' });
  await east.migrate();
  expect((await east.world.pumped(east.operations.undo(east.context, name))).phase).toBe('RollingBack');
  expect((await east.stored())?.metadata.annotations[migrationMarks.undo]).toMatch(/Z$/);
});

test('a hub that the caller may not see is not named in a subscription', async () => {
  const access: Access = { ...createLocalAccess(), maySeeCluster: () => false };
  const rights = createHubRights({ access, cluster: clusterName('hub'), kind: migrationKind });
  await using east = await startMigrations({ bareHub: true, rights });
  const listener = { changed: () => undefined, ended: () => undefined };
  await expect(east.world.pumped(east.operations.follow(east.context, name, listener, east.signal))).rejects.toMatchObject({
    code: 'FORBIDDEN',
    message: 'default/move may not be watched',
  });
});

test('a Migration is followed until it is deleted', async () => {
  await using east = await startMigrations();
  await east.migrate();
  const heard: (string | undefined)[] = [];
  await east.operations.follow(east.context, name, { changed: (view) => heard.push(view?.phase), ended: () => undefined }, east.signal);
  const before = await east.stored();
  if (before === undefined) throw new Error('expected a Migration');
  await east.world.pumped(east.migrations.patchStatus(before, { phase: 'Rolling' }, east.signal));
  await east.world.until(() => heard.includes('Rolling'));
  east.world.cluster('hub').remove('Migration.muster.dev', 'move', 'default');
  await east.world.until(() => heard.includes(undefined));
  expect(heard).toEqual(['Planning', 'Rolling', undefined]);
});
