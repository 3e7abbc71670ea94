import { expect, test } from 'vitest';
import { clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { parseLabelSelector } from '../../../src/core/selectors.ts';
import { chooseBackup } from '../../../src/migrate/backups/choose-backup.ts';

interface Shape {
  readonly hour: number | undefined;
  readonly phase?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
}

const east = { 'velero.io/schedule-name': 'east-daily' };
const backup = (name: string, { hour, phase = 'Completed', namespace = 'velero', labels = east, ...more }: Shape): KubernetesObject => ({
  apiVersion: 'velero.io/v1',
  kind: 'Backup',
  metadata: { name, namespace, labels, uid: `uid-${name}`, ...more },
  status: { phase, ...(hour === undefined ? {} : { completionTimestamp: `2026-11-23T${String(hour).padStart(2, '0')}:00:00Z` }) },
});
const clustersOf = (lists: Readonly<Record<string, readonly KubernetesObject[]>>) =>
  Object.entries(lists).map(([name, backups]) => ({ cluster: clusterName(name), backups }));

const daily = { namespace: 'velero', labels: parseLabelSelector('velero.io/schedule-name=east-daily') };
const north = [
  backup('old', { hour: 1 }),
  backup('new', { hour: 3 }),
  backup('west', { hour: 5, labels: { 'velero.io/schedule-name': 'west-daily' } }),
  backup('unlabelled', { hour: 5, labels: {} }),
  backup('elsewhere', { hour: 6, namespace: 'backups' }),
  backup('partial', { hour: 7, phase: 'PartiallyFailed' }),
  backup('running', { hour: undefined, phase: 'InProgress' }),
  backup('timeless', { hour: undefined }),
  backup('doomed', { hour: 8, deletionTimestamp: '2026-11-23T09:00:00Z' }),
];

test.each([
  ['the newest completed one with these labels', daily, ['new']],
  ['the one of this name, even if it is old', { namespace: 'velero', name: 'old' }, ['old']],
  ['none that is not completed', { namespace: 'velero', name: 'partial' }, []],
  ['none without a time', { namespace: 'velero', name: 'timeless' }, []],
  ['none that is being deleted', { namespace: 'velero', name: 'doomed' }, []],
  ['none of another namespace', { namespace: 'velero', name: 'elsewhere' }, []],
  ['the one of the namespace in the spec', { namespace: 'backups', name: 'elsewhere' }, ['elsewhere']],
  ['none without a name and labels', { namespace: 'velero' }, []],
])('chooses %s', (_, spec, names) => {
  for (const backups of [north, north.toReversed()])
    expect(chooseBackup(spec, clustersOf({ north: backups })).map(({ name }) => name)).toEqual(names);
});

test('returns the newest Backup in each cluster that has it, by the name of the cluster', () => {
  const chosen = chooseBackup(daily, clustersOf({ south: north, east: north, west: [backup('old', { hour: 1 })] }));
  expect(chosen).toEqual(
    ['east', 'south'].map((cluster) => ({
      cluster,
      namespace: 'velero',
      name: 'new',
      uid: 'uid-new',
      completedAt: '2026-11-23T03:00:00Z',
    })),
  );
  expect(chooseBackup(daily, [])).toEqual([]);
});
