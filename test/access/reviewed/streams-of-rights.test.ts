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

/** Numbers of changes in one event-loop turn: usually few, sometimes more than one message has. */
const usualBurst = 20;
const largeBurst = 400;

interface Watcher {
  readonly name: string;
  /** The namespaces that the user may see. */
  readonly allowed: Set<string>;
  stream: EagerReader<ChangesMessage> | undefined;
  /** Number of messages of the stream that were checked. */
  checked: number;
}

interface Counts {
  readonly ended: number;
  readonly changes: number;
  readonly flips: number;
  readonly messages: number;
}

/** Runs random changes of objects and rights, and checks after each what each user has received. */
async function runFlips(seed: number, steps: number): Promise<Counts> {
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
  const watchers: Watcher[] = users.map((name) => ({ name, allowed: new Set(), stream: undefined, checked: 0 }));
  const objects = new Map<string, KubernetesObject>();
  const counts = { ended: 0, changes: 0, flips: 0, messages: 0 };
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
    counts.flips += 1;
  };
  const change = () => {
    const [namespace, name] = [pick(namespaces), `pod-${Math.floor(random() * 10)}`];
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
    counts.changes += 1;
  };
  const burst = () => {
    const most = random() < 0.1 ? largeBurst : usualBurst;
    for (let left = 1 + Math.floor(random() * most); left > 0; left -= 1) change();
  };
  /** Checks that each message since the last check has objects of these namespaces only. */
  const checkMessages = (watcher: Watcher, visible: ReadonlySet<string>, at: string) => {
    const messages = watcher.stream?.messages ?? [];
    for (const { added, modified, deleted } of messages.slice(watcher.checked))
      for (const { object } of [...added, ...modified, ...deleted])
        if (!visible.has(object.metadata.namespace ?? '')) expect.fail(`${at}: a message has ${JSON.stringify(object.metadata)}`);
    counts.messages += messages.length - watcher.checked;
    watcher.checked = messages.length;
  };
  const open = async (watcher: Watcher) => {
    const caller = userNamed(watcher.name);
    const preparing = access.prepare(caller, world.end.signal);
    await Promise.all([preparing, settle()]);
    const opening = readEagerly(streams.changes(idleContext({ caller, signal: world.end.signal }), podKind, {}));
    opening.catch(() => undefined);
    await settle();
    watcher.stream = await opening.catch(() => undefined);
    watcher.checked = 0;
  };

  for (let step = 0; step < steps; step++) {
    const roll = random();
    if (roll < 0.8) burst();
    if (roll < 0.3) {
      const flipped = pick(watchers);
      const before = new Set(flipped.allowed);
      flip(flipped);
      // Changes of the same turn. Until the API server has been asked again, the rights before the flip count.
      if (roll < 0.15) burst();
      await settle();
      checkMessages(flipped, flipped.allowed.union(before), `seed ${seed}, step ${step}: ${flipped.name} before and after a flip`);
    }
    // Messages of a view are paced.
    await clock.advance(200);
    for (const watcher of watchers) {
      const at = `seed ${seed}, step ${step}: ${watcher.name} may see ${[...watcher.allowed]}`;
      checkMessages(watcher, watcher.allowed, at);
      if (watcher.stream?.ended !== undefined) {
        expect(watcher.stream.ended.code).toBe('FORBIDDEN');
        counts.ended += 1;
        watcher.stream = undefined;
      }
      if (watcher.stream === undefined && watcher.allowed.size > 0 && random() < 0.5) {
        await open(watcher);
        checkMessages(watcher, watcher.allowed, at);
      }
      if (watcher.stream === undefined || watcher.stream.ended !== undefined) continue;
      const held = watcher.stream.fold.held('north Pod').map((place) => place.replace(/@.*/, ''));
      const expected = [...objects.keys()].filter((key) => watcher.allowed.has(key.split('/')[0] ?? '')).sort();
      expect(held, at).toEqual(expected);
    }
  }
  world.end.abort();
  return counts;
}

test('E4: streams of two users follow their rights through 20,000 random changes and 250 changes of rights, and show nothing else', async () => {
  const all = { ended: 0, changes: 0, flips: 0, messages: 0 };
  for (let seed = 1; seed <= 6; seed++) {
    const counts = await runFlips(seed, 150);
    for (const name of ['ended', 'changes', 'flips', 'messages'] as const) all[name] += counts[name];
  }
  expect(all.changes).toBeGreaterThan(20_000);
  expect(all.flips).toBeGreaterThan(250);
  expect(all.ended).toBeGreaterThan(100);
  expect(all.messages).toBeGreaterThan(1_000);
}, 60_000);
