import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { objectNamed } from '../../support/kubernetes-objects.ts';
import { inShop, relatedWorld } from '../../support/related-world.ts';

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
    Pod: [inShop('web'), inShop('n1', { uid: 'uid-pod-n1' })],
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
    ],
  },
});

test.each([
  ['pod(cluster: "north", namespace: "shop", name: "web")', ['series', 'exact', 'last', 'created']],
  ['pod(cluster: "north", namespace: "shop", name: "n1")', ['of-pod']],
  ['node(cluster: "north", name: "n1")', ['by-kubelet', 'by-controller']],
])('events of %s, the newest first', async (of, expected) => {
  const answer = await world.ask(`{ found: ${of} { events { totalCount items { reason } } } }`);
  expect(answer.errors).toBeUndefined();
  expect(answer.at('found.events')).toEqual({ totalCount: expected.length, items: expected.map((reason) => ({ reason })) });
});

test('their pages follow one another', async () => {
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
