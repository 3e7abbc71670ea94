import { describe, expect, test } from 'vitest';
import { type ClusterShareObject, type FleetState, type UntouchableObject, violationsIn } from './invariants.ts';
import type { LiveObject } from './member-cluster.ts';

const metadata = (name: string, uid: string, owner?: string) => ({
  name,
  uid,
  resourceVersion: '1',
  ...(owner === undefined ? {} : { labels: { 'muster.dev/propagation': owner } }),
});
const configMap = (name: string, uid: string, owner: string | undefined, data: Record<string, string>): LiveObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadata(name, uid, owner),
  data,
});
const share = (cluster: string, uid: string): ClusterShareObject => ({
  apiVersion: 'muster.dev/v1alpha1',
  kind: 'ClusterShare',
  metadata: metadata(`web.${cluster}`, `share-${cluster}`),
  cluster,
  objects: [{ kind: 'ConfigMap', name: 'web', state: 'Owned', uid }],
});

/** A correct fleet: one settled intent in two clusters, with an override in the second. */
function settled(change: Partial<FleetState> = {}): FleetState {
  return {
    propagations: [
      {
        apiVersion: 'muster.dev/v1alpha1',
        kind: 'Propagation',
        metadata: metadata('web', 'p1'),
        spec: {
          template: [{ json: { kind: 'ConfigMap', metadata: { name: 'web' }, data: { text: 'hello' } } }],
          placement: { clusters: ['north', 'south'] },
          overrides: [{ set: { clusters: ['south'] }, merge: { data: { tone: 'low' } } }],
        },
        status: { phase: 'Settled' },
      },
    ],
    shares: [share('north', 'n1'), share('south', 's1')],
    objects: new Map([
      ['north', [configMap('web', 'n1', 'p1', { text: 'hello' })]],
      ['south', [configMap('web', 's1', 'p1', { text: 'hello', tone: 'low' })]],
    ]),
    untouchables: [],
    podsOfJobs: new Map(),
    ...change,
  };
}

/** The settled fleet, but with these objects in the cluster `south`. */
const south = (...objects: readonly LiveObject[]) =>
  settled({
    objects: new Map([
      ['north', settled().objects.get('north') ?? []],
      ['south', objects],
    ]),
  });
const stranger: UntouchableObject = { cluster: 'south', name: 'web', uid: 'theirs', data: { text: 'mine' } };

test('finds nothing in a fleet that is as it should be', () => {
  expect(violationsIn(settled())).toEqual([]);
});

describe('finds', () => {
  test.each<[string, FleetState, string]>([
    ['a copy that is missing', south(), 'south lacks ConfigMap web'],
    ['data that nobody wants', south(configMap('web', 's1', 'p1', { text: 'hello', tone: 'low', extra: '1' })), 'expected data'],
    ['an override that was not applied', south(configMap('web', 's1', 'p1', { text: 'hello' })), 'expected data'],
    ['a copy without the label of its Propagation', south(configMap('web', 's1', undefined, { text: 'hello', tone: 'low' })), 'label'],
    ['a copy of a deleted Propagation', settled({ propagations: [], shares: [] }), 'does not exist'],
    [
      'a copy in a cluster where it is not wanted',
      south(...(settled().objects.get('south') ?? []), configMap('other', 'o1', 'p1', {})),
      'want',
    ],
    ['an inventory with another uid', settled({ shares: [share('north', 'n1'), share('south', 'old')] }), 'the inventory of south'],
    ['a copy that no inventory has', settled({ shares: [share('north', 'n1')] }), 'no inventory has'],
    ['a Job with two Pods', settled({ podsOfJobs: new Map([['north', new Map([['once', new Set(['a', 'b'])]])]]) }), 'had 2 Pods'],
    ['a stranger that is gone', settled({ untouchables: [{ ...stranger, name: 'theirs' }] }), 'is gone'],
    ['a stranger that was recreated', settled({ untouchables: [stranger] }), 'recreated'],
    [
      'a stranger that was changed',
      { ...south(configMap('web', 'theirs', undefined, { text: 'ours' })), untouchables: [stranger] },
      'expected {"text":"mine"}',
    ],
  ])('%s', (_title, state, violation) => {
    expect(violationsIn(state).join('\n')).toContain(violation);
  });

  test('Settled although a foreign object has the name of a copy, and not Settled without one', () => {
    const beside = {
      ...south(configMap('web', 'theirs', undefined, stranger.data)),
      untouchables: [stranger],
      shares: [share('north', 'n1')],
    };
    expect(violationsIn(beside)).toEqual(['web: expected a conflict, got Settled []']);
    const propagations = settled().propagations.map((propagation) => ({ ...propagation, status: { phase: 'Rolling' } }));
    expect(violationsIn(settled({ propagations }))).toEqual(['web: expected Settled, got Rolling []']);
    expect(violationsIn({ ...beside, propagations })).toEqual([]);
  });

  test('no copy in the clusters of a wave that waits for a cluster with a foreign object', () => {
    const waves = [{ name: 'first', set: { clusters: ['south'] } }];
    const state = (rollout: object) => ({
      ...settled(),
      propagations: settled().propagations.map((one) => ({ ...one, spec: { ...one.spec, rollout }, status: { phase: 'Rolling' } })),
      objects: new Map([['south', [configMap('web', 'theirs', undefined, stranger.data)]]]),
      untouchables: [stranger],
      shares: [],
    });
    expect(violationsIn(state({ waves }))).toEqual([]);
    expect(violationsIn(state({}))).toEqual(['web: north lacks ConfigMap web']);
  });

  test('replicas that do not add up', () => {
    const deployment = (cluster: string, replicas: number): LiveObject => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: metadata('run', `${cluster}-d`, 'p1'),
      spec: { replicas },
    });
    const [propagation] = settled().propagations;
    const state = (replicas: number): FleetState => ({
      ...settled(),
      propagations: [
        {
          ...(propagation as LiveObject),
          spec: {
            template: [{ json: { kind: 'Deployment', metadata: { name: 'run' } } }],
            placement: { clusters: ['north', 'south'] },
            replicas: { mode: 'Divided', total: 5 },
          },
        },
      ],
      objects: new Map([
        ['north', [deployment('north', 3)]],
        ['south', [deployment('south', replicas)]],
      ]),
      shares: ['north', 'south'].map((cluster) => ({
        ...share(cluster, ''),
        objects: [{ kind: 'Deployment', name: 'run', state: 'Owned', uid: `${cluster}-d` }],
      })),
    });
    expect(violationsIn(state(2))).toEqual([]);
    expect(violationsIn(state(3))).toEqual(['web: expected 5 replicas in all, got 3 + 3']);
  });
});
