import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { inShop, relatedWorld } from '../../support/graph/related-world.ts';
import { objectNamed } from '../../support/kubernetes-objects.ts';

const about = (kind: string, name: string, uid: string | undefined) => ({
  kind,
  name,
  namespace: 'shop',
  ...(uid === undefined ? {} : { uid }),
});
const event = (name: string, involvedObject: object, times: Readonly<Record<string, string>> = {}, namespace = 'shop'): KubernetesObject =>
  inShop(name, { namespace, creationTimestamp: '2026-01-01T00:00:00Z' }, { involvedObject: { ...involvedObject }, reason: name, ...times });

const world = relatedWorld({
  north: {
    Pod: [inShop('web'), inShop('n1', { uid: 'uid-pod-n1' }), inShop('etcd', { annotations: { 'kubernetes.io/config.mirror': 'digest' } })],
    Node: [objectNamed('n1', { uid: 'uid-n1' })],
    Event: [
      event('created', about('Pod', 'web', 'uid-web')),
      event('last', about('Pod', 'web', 'uid-web'), { lastTimestamp: '2026-01-01T00:10:00Z', eventTime: '2026-01-01T00:01:00.000000Z' }),
      event('exact', about('Pod', 'web', 'uid-web'), { eventTime: '2026-01-01T00:10:00.000001Z' }),
      inShop(
        'series',
        {},
        {
          involvedObject: about('Pod', 'web', 'uid-web'),
          reason: 'series',
          series: { count: 3, lastObservedTime: '2026-01-01T00:30:00.000000Z' },
        },
      ),
      event('before', about('Pod', 'web', 'uid-of-before'), { lastTimestamp: '2026-01-01T00:20:00Z' }),
      event('nobody', about('Pod', 'web', undefined), { lastTimestamp: '2026-01-01T00:20:00Z' }),
      event('service', about('Service', 'web', 'uid-service')),
      event('by-kubelet', about('Node', 'n1', 'n1'), { lastTimestamp: '2026-01-01T00:02:00Z' }, 'default'),
      event('by-controller', about('Node', 'n1', 'uid-n1'), { lastTimestamp: '2026-01-01T00:01:00Z' }, 'default'),
      event('like-kubelet', about('Pod', 'n1', 'n1')),
      event('of-pod', about('Pod', 'n1', 'uid-pod-n1')),
      event('static', about('Pod', 'etcd', 'digest')),
      event('mirrored', about('Pod', 'etcd', 'uid-etcd'), { lastTimestamp: '2026-01-01T00:01:00Z' }),
      event('of-another', about('Pod', 'etcd', 'digest-of-before')),
    ],
  },
});

test.each([
  ['pod(cluster: "north", namespace: "shop", name: "web")', ['series', 'exact', 'last', 'created']],
  ['pod(cluster: "north", namespace: "shop", name: "n1")', ['of-pod']],
  ['pod(cluster: "north", namespace: "shop", name: "etcd")', ['mirrored', 'static']],
  ['node(cluster: "north", name: "n1")', ['by-kubelet', 'by-controller']],
])('events of %s, the newest first', async (of, expected) => {
  const answer = await world.ask(`{ found: ${of} { events { totalCount items { reason } } } }`);
  expect(answer.errors).toBeUndefined();
  expect(answer.at('found.events')).toEqual({ totalCount: expected.length, items: expected.map((reason) => ({ reason })) });
});

test('events are paginated', async () => {
  const reasons: unknown[] = [];
  let after = '';
  for (let pages = 0; pages < 4; pages++) {
    const answer = await world.ask(
      `{ pod(cluster: "north", namespace: "shop", name: "web") { events(first: 1${after}) { items { reason } pageInfo { endCursor } } } }`,
    );
    reasons.push(...(answer.at('pod.events.items.reason') as unknown[]));
    after = `, after: "${answer.at('pod.events.pageInfo.endCursor')}"`;
  }
  expect(reasons).toEqual(['series', 'exact', 'last', 'created']);
});

test('the object of an event is found by its uid, and a Node also by its name', async () => {
  const answer = await world.ask('{ events { items { reason involvedObject { resource { kind metadata { uid } } } } } }');
  expect(answer.errors).toBeUndefined();
  const items = answer.at('events.items') as {
    reason: string;
    involvedObject: { resource: { kind: string; metadata: { uid: string } } | null };
  }[];
  const found = Object.fromEntries(
    items.map(({ reason, involvedObject: { resource } }) => [reason, resource && `${resource.kind} ${resource.metadata.uid}`]),
  );
  expect(found).toMatchObject({
    created: 'Pod uid-web',
    before: null,
    nobody: 'Pod uid-web',
    'by-kubelet': 'Node uid-n1',
    'by-controller': 'Node uid-n1',
    'like-kubelet': null,
  });
  // The cluster serves no Services. The null of the reference has one fault.
  expect(answer.faults.map(({ fault: { code, kind } }) => [code, kind?.kind])).toEqual([['NOT_SERVED', 'Service']]);
});
