import { expect, test } from 'vitest';
import type { Access } from '../../../src/access/access.ts';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import { fault } from '../../../src/core/faults.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createClusterViews } from '../../../src/load/reads/cluster-views.ts';
import { createFakeMirrors } from '../../support/graph/fake-mirrors.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createRestrictingAccess } from '../../support/restricting-access.ts';

const [north, bank] = [clusterName('north'), clusterName('bank')];

function viewsWith(access: Access) {
  const mirrors = createFakeMirrors(createManualClock());
  mirrors.join('north').fail(fault('DUPLICATE', 'bank has the same kube-system uid', { cluster: north, retry: 'NEVER', other: bank }));
  mirrors.join('bank');
  return createClusterViews({ mirrors, access, settingsOf: () => undefined });
}

test('a fault that names another cluster is shown only to callers who may see that cluster', () => {
  const views = viewsWith(createRestrictingAccess({ ann: { north: 'all', bank: 'all' }, eve: { north: 'all' } }));
  const codes = (key: string) => views.find({ key }, 'north')?.faults.map(({ code }) => code);
  expect(codes('ann')).toEqual(['DUPLICATE']);
  expect(codes('eve')).toEqual([]);
  expect(views.visible({ key: 'eve' }).map(({ faults }) => faults)).toEqual([[]]);
  expect(views.member(north)?.faults, 'a view that callers share').toEqual([]);
});

test('local mode shows all faults', () => {
  const views = viewsWith(createLocalAccess());
  expect(views.find({ key: 'local' }, 'north')?.faults).toHaveLength(1);
  expect(views.member(north)?.faults).toHaveLength(1);
});
