import { expect, test } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { ChangesMessage } from '../../../src/streams/messages/changes-message.ts';
import { createStreams } from '../../../src/streams/views/create-streams.ts';
import { idleContext } from '../../support/graph/read-context.ts';
import { type EagerReader, readEagerly } from '../../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { bindingOf, createAccessWorld, readsPods, roleOf, userNamed } from './access-world.ts';

const model = loadBaseline();
const served = servedAs(model, 'Pod');
const namespaces = ['a', 'b', 'c', 'd'];
const users = ['ann', 'bob'];

interface Watcher {
  readonly name: string;
  /** The namespaces that the user may see. */
  readonly allowed: Set<string>;
  stream: EagerReader<ChangesMessage> | undefined;
}

/** Runs random changes of objects and rights, and checks after each what each user has received. */
async function runFlips(seed: number, steps: number): Promise<{ readonly ended: number; readonly events: number }> {
  const random = seededRandom(seed);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
  const world = createAccessWorld();
  const { clock, access } = world;
  const north = world.join('north');
  const pods = north.mirrors.mirror(served);
  pods.list();
  for (const namespace of namespaces) north.put(roleOf(namespace, 'reader', readsPods));
  const podKind = model.kinds.get('Pod');
  if (podKind === undefined) throw new Error('no Pods');
  const streams = createStreams(
    { mirrors: world.mirrors, access, model: () => model, settingsOf: () => undefined, sealKey: new Uint8Array(32), clock, log: silentLog },
    world.end.signal,
  );
  const watchers: Watcher[] = users.map((name) => ({ name, allowed: new Set(), stream: undefined }));
  const objects = new Map<string, KubernetesObject>();
  const counts = { ended: 0, events: 0 };
  // Longer than an API server may learn late of a change.
  const settle = () => clock.advance(2_000);

  const flip = ({ name, allowed }: Watcher) => {
    const namespace = pick(namespaces);
    const binding = bindingOf(namespace, name, 'Role/reader', `User/${name}`);
    if (allowed.delete(namespace)) north.remove(binding);
    else {
      allowed.add(namespace);
      north.put(binding);
    }
  };
  const change = () => {
    const [namespace, name] = [pick(namespaces), `pod-${Math.floor(random() * 3)}`];
    const key = `${namespace}/${name}`;
    const known = objects.get(key);
    if (known !== undefined && random() < 0.4) {
      objects.delete(key);
      pods.remove(known);
    } else {
      const pod = objectNamed(name, { namespace, labels: { step: String(random()) } });
      objects.set(key, pod);
      pods.put(pod);
    }
    counts.events += 1;
  };
  const open = async (watcher: Watcher) => {
    const caller = userNamed(watcher.name);
    const preparing = access.prepare(caller, world.end.signal);
    await Promise.all([preparing, settle()]);
    const opening = readEagerly(streams.changes(idleContext({ caller, signal: world.end.signal }), podKind, {}));
    opening.catch(() => undefined);
    await settle();
    watcher.stream = await opening.catch(() => undefined);
  };

  for (let step = 0; step < steps; step++) {
    const roll = random();
    if (roll < 0.25) {
      flip(pick(watchers));
      await settle();
    } else change();
    // Messages of a view are paced.
    await clock.advance(200);
    for (const watcher of watchers) {
      if (watcher.stream?.ended !== undefined) {
        expect(watcher.stream.ended.code).toBe('FORBIDDEN');
        counts.ended += 1;
        watcher.stream = undefined;
      }
      if (watcher.stream === undefined && watcher.allowed.size > 0 && random() < 0.5) await open(watcher);
      if (watcher.stream === undefined || watcher.stream.ended !== undefined) continue;
      const held = watcher.stream.fold.held('north Pod').map((place) => place.replace(/@.*/, ''));
      const expected = [...objects.keys()].filter((key) => watcher.allowed.has(key.split('/')[0] ?? '')).sort();
      expect(held, `seed ${seed}, step ${step}: ${watcher.name} may see ${[...watcher.allowed]}`).toEqual(expected);
    }
  }
  world.end.abort();
  return counts;
}

test('E4: streams of two users follow their rights through random changes, and show nothing else', async () => {
  let ended = 0;
  for (let seed = 1; seed <= 6; seed++) ended += (await runFlips(seed, 150)).ended;
  expect(ended).toBeGreaterThan(10);
}, 60_000);
