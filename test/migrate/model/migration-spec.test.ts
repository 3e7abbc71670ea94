import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { documentOfMigrateInput, migrateInputOf } from '../../../src/migrate/model/migrate-input.ts';
import {
  isSameMigration,
  type Migration,
  type MigrationSpec,
  parseMigrationSpec,
  printMigrationSpec,
} from '../../../src/migrate/model/migration.ts';
import {
  type MigrationStatus,
  parseMigrationStatus,
  printMigrationStatus,
} from '../../../src/migrate/model/migration-status-definition.ts';

const labels = { matchLabels: { app: 'web' } };
const base = { from: 'east', to: 'west', labels };
const read = (more: Readonly<Record<string, Json>>): MigrationSpec => {
  const spec = parseMigrationSpec({ ...base, ...more });
  if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
  return spec;
};

describe('the spec of a Migration', () => {
  test('has defaults, and is printed without them', () => {
    expect(read({})).toMatchObject({ copies: 1, priority: [], source: 'Live', soak: 0, onFailure: 'Pause', runAs: { type: 'requester' } });
    expect(printMigrationSpec(read({ copies: 1, soak: '0s' }))).toEqual(base);
    expect(printMigrationSpec(read({ copies: 0.5, soak: '90s', maxConcurrency: '50%' }))).toEqual({
      ...base,
      copies: 0.5,
      soak: '90s',
      maxConcurrency: '50%',
    });
  });

  const refusals: readonly (readonly [Readonly<Record<string, Json>>, string])[] = [
    [{ labels: null }, 'apps: expected either apps or labels'],
    [{ apps: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }] }, 'apps: expected either apps or labels'],
    [{ labels: {} }, 'labels: expected a selector with at least one condition'],
    [{ to: 'east' }, 'to: expected another cluster than east'],
    [{ copies: 0 }, 'copies: expected a number greater than 0 and at most 1'],
    [{ copies: 1.5 }, 'copies: expected a number greater than 0 and at most 1'],
    [{ deadline: 'soon' }, 'deadline: expected a duration'],
    [{ source: 'Velero' }, 'backup: is required with source Velero'],
    [{ backup: { name: 'daily' } }, 'backup: expected none without source Velero'],
    [{ source: 'Velero', backup: { name: 'daily', file: 'a.tar.gz' } }, 'backup: expected one of name, labels and file'],
    [
      { labels: null, apps: [{ cluster: 'north', apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }] },
      'apps[0].cluster: expected east',
    ],
    [
      { labels: null, apps: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: '../web' }] },
      'apps[0].name: expected the name of an object',
    ],
    [{ reason: 'none' }, 'reason: is no field here'],
  ];
  test.each(refusals)('%j is refused: %s', (more, expected) => {
    const spec = parseMigrationSpec({ ...base, ...more });
    const problems = 'problems' in spec ? spec.problems.map(({ path, message }) => `${path}: ${message}`) : [];
    expect(
      problems.some((problem) => problem.startsWith(expected)),
      problems.join('\n'),
    ).toBe(true);
  });

  test('equals another one if only the requester, the order of labels or the cluster of apps differs', () => {
    const app = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const requester = { user: 'mia', at: '2026-01-01T00:00:00Z' };
    expect(isSameMigration(read({}), read({ requester }))).toBe(true);
    expect(isSameMigration(read({ labels: null, apps: [app] }), read({ labels: null, apps: [{ ...app, cluster: 'east' }] }))).toBe(true);
    expect(isSameMigration(read({}), read({ copies: 0.5 }))).toBe(false);
  });
});

test('an input of the schema becomes a document, and the document the input again', () => {
  const ref = { cluster: 'east', apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const input = {
    namespace: 'shop',
    name: 'move',
    apps: [{ ref }],
    from: 'east',
    to: 'west',
    source: 'VELERO',
    backup: { labels: 'a in (b)' },
    onFailure: 'ROLLBACK',
  };
  const { document, problems } = documentOfMigrateInput({ ...input, traffic: null });
  expect([document, problems]).toEqual([
    { apps: [ref], from: 'east', to: 'west', source: 'Velero', backup: { labels: { matchLabels: { a: 'b' } } }, onFailure: 'Rollback' },
    [],
  ]);
  const metadata = { namespace: 'shop', name: 'move' } as Migration['metadata'];
  expect(migrateInputOf({ metadata, document, spec: parseMigrationSpec(document) })).toEqual(input);
});

test('a status is printed and read as the same', () => {
  const room = { pods: 2, cpu: '1500m', memory: '1Gi' };
  const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
  const since = '2026-01-01T00:00:00Z';
  const entry = { key, state: 'Owned', uid: 'u', health: 'Healthy' } as const;
  const app = {
    key,
    uid: 'u',
    step: 'Drain',
    from: 2,
    to: 1,
    reason: 'Unreachable',
    since,
    needs: room,
    free: room,
    source: [entry],
    target: [entry],
    calls: [{ operation: 'Shift', id: '1', state: 'Done', since }],
  } as const;
  const status: MigrationStatus = {
    phase: 'Degraded',
    digest: 'd',
    apps: [app],
    notes: [{ severity: 'WARNING', code: 'POSSIBLY_DOUBLED', message: 'east' }],
  };
  expect(parseMigrationStatus(printMigrationStatus(status))).toEqual(status);
});
