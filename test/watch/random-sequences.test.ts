import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { StoreEvent } from '../../src/store/mirror-store.ts';
import { compareVersions } from '../../src/store/versions.ts';
import type { FakeCluster } from '../support/cluster/fake-cluster.ts';
import { turns } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { contentOf, followStore, pod, pods, startWatching, type Watching } from './watching.ts';

// Whatever happens to a cluster, in any order: after the last fault the mirror equals the server, and the received events lead to the same
// content.

type Action =
  | { readonly type: 'put' | 'recreate' | 'remove'; readonly name: string; readonly namespace: string; readonly value: string }
  | { readonly type: 'advance'; readonly ms: number }
  | {
      readonly type: 'failNext';
      readonly verb: 'list' | 'watch';
      readonly fault: keyof typeof faults;
      readonly times: number;
      readonly midway: boolean;
    }
  | { readonly type: 'breakWatches'; readonly fault: keyof typeof faults }
  | { readonly type: 'error'; readonly code: number }
  | { readonly type: 'emit'; readonly line: string }
  | { readonly type: 'close' | 'lag' | 'compact' | 'bookmark' | 'forbid' | 'permit' | 'narrow' | 'freeze' | 'turn' | 'upgrade' };

const faults = {
  unreachable: { code: 'UNREACHABLE' },
  timedOut: { code: 'TIMED_OUT' },
  throttled: { code: 'THROTTLED', status: { code: 429, retryAfterSeconds: 3 } },
  serverError: { code: 'SERVER_ERROR', status: { code: 500 } },
  expired: { code: 'EXPIRED', status: { code: 410 } },
  fromTheFuture: { code: 'TIMED_OUT', status: { code: 504, cause: 'ResourceVersionTooLarge' } },
  unauthenticated: { code: 'UNAUTHENTICATED', status: { code: 401 } },
  malformed: { code: 'MALFORMED' },
  tooLarge: { code: 'TOO_LARGE' },
  invalid: { code: 'INVALID', status: { code: 422 } },
} as const;

const faultName = fc.constantFrom(...(Object.keys(faults) as (keyof typeof faults)[]));
const write = fc.record({
  type: fc.constantFrom('put' as const, 'put' as const, 'recreate' as const, 'remove' as const),
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  namespace: fc.constantFrom('red', 'blue'),
  value: fc.constantFrom('0', '1'),
});
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: write },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('advance' as const), ms: fc.constantFrom(100, 1_000, 10_000, 70_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('failNext' as const),
      verb: fc.constantFrom('list' as const, 'watch' as const),
      fault: faultName,
      times: fc.integer({ min: 1, max: 4 }),
      midway: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('breakWatches' as const), fault: faultName }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('error' as const), code: fc.constantFrom(410, 429, 500, 418) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('emit' as const),
      line: fc.constantFrom('null', '{"type":', '{"type":"ADDED","object":{"kind":"Pod","metadata":{}}}'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom('close', 'lag', 'compact', 'bookmark', 'forbid', 'permit', 'narrow', 'freeze', 'turn', 'upgrade'),
    }),
  },
);

const seed = Number(process.env.MUSTER_SEED ?? Date.now() % 0x7fffffff);

test(`a mirror equals its server after the last fault (MUSTER_SEED=${seed})`, async () => {
  const property = fc.asyncProperty(fc.array(action, { maxLength: 60 }), fc.boolean(), fc.integer(), async (actions, streaming, chance) => {
    await using watching = startWatching({ random: seededRandom(chance) });
    const north = watching.fake('north');
    if (!streaming) north.gitVersion = 'v1.31.0';
    for (const name of ['red', 'blue']) north.put('Namespace', { metadata: { name } });
    watching.engage(north, { namespaces: ['red'] });
    await turns(10);
    await run(watching, north, actions);
  });
  await fc.assert(property, { seed, numRuns: Number(process.env.MUSTER_RUNS ?? 150), endOnFailure: false });
}, 120_000);

async function run(watching: Watching, north: FakeCluster, actions: readonly Action[]): Promise<void> {
  const { mirror } = watching.hold(north, pods);
  const follower = followStore(mirror.store, new AbortController().signal);
  const rules: Disposable[] = [];
  let minor = 36;
  for (const act of actions) {
    if (act.type === 'upgrade') north.gitVersion = `v1.${++minor}.0`;
    else await perform(watching, north, { act, rules });
    expect(mirror.store.size).toBeLessThanOrEqual(8);
  }
  for (const rule of rules) rule[Symbol.dispose]();
  north.thaw();
  north.permitted = undefined;
  // The longest wait: the retry of all namespaces, whose interval doubles each time.
  await watching.clock.advance(1_300_000);

  expect(mirror.sync()).toMatchObject({ phase: 'SYNCED' });
  expect(mirror.faults()).toEqual([]);
  expect(contentOf(mirror.store.objects())).toEqual(contentOf(north.objects('Pod')));
  expect(follower.content()).toEqual(contentOf(north.objects('Pod')));
  expect(watching.errors).toEqual([]);
  checkHistory(follower.events);
}

async function perform(
  watching: Watching,
  north: FakeCluster,
  { act, rules }: { readonly act: Action; readonly rules: Disposable[] },
): Promise<void> {
  switch (act.type) {
    case 'put':
      north.put('Pod', pod(act.name, act.value, act.namespace));
      break;
    case 'recreate':
      north.put('Pod', pod(act.name, act.value, act.namespace), 'recreate');
      break;
    case 'remove':
      north.remove('Pod', act.namespace, act.name);
      break;
    case 'advance':
      await watching.clock.advance(act.ms);
      break;
    case 'turn':
      await turns(1);
      break;
    case 'failNext':
      rules.push(north.fail({ of: 'Pod', verb: act.verb, times: act.times, midway: act.midway, fault: faultNamed(north, act.fault) }));
      break;
    case 'breakWatches':
      north.breakWatches({ kind: 'Pod', fault: faultNamed(north, act.fault) });
      break;
    case 'error':
      north.error('Pod', act.code);
      break;
    case 'emit':
      north.emit('Pod', act.line);
      break;
    case 'close':
      north.closeWatches('Pod');
      break;
    case 'lag':
      north.lag('Pod');
      break;
    case 'compact':
      north.compact();
      break;
    case 'bookmark':
      north.bookmark('Pod');
      break;
    case 'forbid':
      north.permitted = new Set();
      north.closeWatches('Pod');
      break;
    case 'narrow':
      north.permitted = new Set(['red']);
      north.closeWatches('Pod');
      break;
    case 'permit':
      north.permitted = undefined;
      break;
    case 'freeze': {
      north.freeze();
      await watching.clock.advance(25_000);
      const refused = north.die();
      await watching.clock.advance(5_000);
      north.thaw();
      refused[Symbol.dispose]();
      break;
    }
    case 'upgrade':
      break;
    default:
      throw act satisfies never;
  }
}

function faultNamed(north: FakeCluster, name: keyof typeof faults) {
  const { code, ...rest } = faults[name];
  return north.fault(code, 'status' in rest ? rest.status : undefined);
}

/** Checks that each uid is deleted at most once, is not applied afterwards, and has versions that never go back. A reset begins anew. */
function checkHistory(events: readonly StoreEvent[]): void {
  const deleted = new Set<string>();
  const versions = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'reset') versions.clear();
    if (event.type !== 'applied' && event.type !== 'deleted') continue;
    const { uid, version } = identify(event.object);
    expect(deleted.has(uid), `${uid} after its deletion`).toBe(false);
    expect(compareVersions(version, versions.get(uid) ?? '0') ?? 0, `versions of ${uid}`).toBeGreaterThanOrEqual(0);
    versions.set(uid, version);
    if (event.type === 'deleted') deleted.add(uid);
  }
}

function identify({ metadata }: KubernetesObject): { readonly uid: string; readonly version: string } {
  return { uid: metadata.uid ?? '', version: metadata.resourceVersion ?? '0' };
}
