import { expect, test } from 'vitest';
import { createActingClients } from '../../../../src/changes/acting-clients.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { accessBut } from '../../../support/restricting-access.ts';
import { type PlannerWorldOptions, startPlannerWorld } from '../planner-world.ts';
import { deployment } from '../snapshots.ts';

const requester = { user: 'alice', groups: [], at: '2026-01-01T00:00:00Z' };
const fleet = { hub: [], north: [node('a', 7)], south: [node('b', 3), node('c', 3)] };

function node(name: string, pods: number): KubernetesObject {
  const status = { allocatable: { cpu: '64', memory: '256Gi', pods: String(pods) }, conditions: [{ type: 'Ready', status: 'True' }] };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status };
}

/** The requester may list no objects of this kind. */
const hides = (kind: string): Pick<PlannerWorldOptions, 'visibility'> => {
  const access = accessBut((request) => request.kind.kind === kind && request.verb === 'list');
  return { visibility: createActingClients({ member: () => undefined, access, accounts: 'many' }).visibility };
};

async function planned(spec: object, options: PlannerWorldOptions = {}) {
  await using planner = await startPlannerWorld(fleet, options);
  const both = { clusters: ['north', 'south'] };
  return await planner.plan({ requester, template: [{ json: deployment('web', 4) }], placement: both, ...spec });
}

const divided = { mode: 'Divided', strategy: 'Weighted' };
const heavy = { set: { clusters: ['south'] }, weight: 9 };

test.each<[string, object, RegExp]>([
  ['divided replicas', { replicas: { mode: 'Divided', strategy: 'Available' } }, /"available":7|"capacity":6/],
  ['replicas that do not fit', { replicas: { mode: 'Divided', strategy: 'Available', total: 99 } }, /"available":7|"capacity":6/],
  ['weights that exceed the room', { replicas: { ...divided, total: 40, rules: [heavy] } }, /where 6 fit/],
  [
    'a spread that lacks room',
    { placement: { clusters: ['north', 'south'], spread: [{ by: 'cluster', min: 1, max: 1 }] }, replicas: { mode: 'Divided', total: 99 } },
    /there is room for 7/,
  ],
  [
    'a spread that takes the larger cluster',
    { placement: { clusters: ['north', 'south'], spread: [{ by: 'cluster', min: 1, max: 1 }] }, replicas: { mode: 'Divided', total: 7 } },
    /"available":7/,
  ],
  [
    'the rules of Karmada',
    { exact: { system: 'Karmada' }, replicas: { mode: 'Divided', strategy: 'Available', total: 99 } },
    /available replicas 13 /,
  ],
])('shows no figures of hidden room: %s', async (_what, spec, figures) => {
  const open = await planned(spec);
  expect(JSON.stringify(open)).toMatch(figures);
  for (const kind of ['Node', 'Pod']) {
    const hidden = await planned(spec, hides(kind));
    expect(JSON.stringify(hidden)).not.toMatch(/"available"|"capacity"|room for \d|where \d+ fit|replicas \d+ are/);
    // The decisions stay, and so does the digest.
    const { digest, placed, unplaced } = open;
    expect(hidden).toMatchObject({ digest, ...(placed === undefined ? {} : { placed }), unplaced });
    expect(hidden.notes.map(({ severity, code, path }) => [severity, code, path])).toEqual(
      open.notes.map(({ severity, code, path }) => [severity, code, path]),
    );
  }
});
