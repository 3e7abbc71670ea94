import { expect, test } from 'vitest';
import { createLocalAccess } from '../../../src/access/local-access.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createStreams } from '../../../src/streams/views/create-streams.ts';
import { createFakeMirrors } from '../../support/graph/fake-mirrors.ts';
import { callerNamed, readEagerly } from '../../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';

const model = loadBaseline();
const pods = servedAs(model, 'Pod');
let versions = 0;

/** Makes a pod with this many environment variables. */
function podOf(index: number, values: number, more: readonly string[] = []): KubernetesObject {
  const env = [...Array.from({ length: values }, (_, n) => `v${n}`), ...more].map((value) => ({ name: 'SETTING', value }));
  const { metadata } = objectNamed(`pod-${index}`, { namespace: 'shop' });
  return {
    metadata: { ...metadata, uid: `uid-${index}`, resourceVersion: String(++versions) },
    spec: { containers: [{ name: 'main', env }] },
  };
}

const kind = model.kinds.get('Pod');
const inside = (conditions: number) => ({
  path: 'spec.containers',
  some: { path: 'env', some: { or: Array.from({ length: conditions }, (_, index) => ({ path: 'value', contains: `wanted-${index}` })) } },
});

/** Makes streams for which each reading of the clock takes this long, as if work took it. */
function world(count: number, { values = 1, lookMs = 0 }: { readonly values?: number; readonly lookMs?: number }) {
  const clock = createManualClock();
  const mirrors = createFakeMirrors(clock);
  const north = mirrors.join('north');
  north.discover(pods);
  const mirror = north.mirror(pods);
  mirror.list(...Array.from({ length: count }, (_, index) => podOf(index, values, index % 2 === 0 ? ['wanted-0'] : [])));
  let passedMs = 0;
  const monotonic = () => {
    passedMs += lookMs;
    return clock.monotonic() + passedMs;
  };
  const busy = { ...clock, monotonic };
  const shared = { mirrors, access: createLocalAccess(), model: () => model, settingsOf: () => undefined, sealKey: new Uint8Array(32) };
  const streams = createStreams({ ...shared, clock: busy, log: silentLog }, new AbortController().signal);
  const changes = (after?: string) => {
    if (kind === undefined) throw new Error('no Pods');
    return streams.changes(callerNamed('me'), kind, { where: inside(3), ...(after === undefined ? {} : { after }) });
  };
  return { clock, mirror, streams, changes };
}

test('C9: a first state with a slow filter is judged in several event-loop turns, and shows one moment', async () => {
  const { mirror, changes } = world(1_000, { lookMs: 3 });
  const { lines, fold } = await readEagerly(changes(), {});
  // Objects change while others are judged.
  for (let turn = 0; turn < 3; turn += 1) {
    mirror.put(podOf(turn, 1, turn === 0 ? ['wanted-1'] : []));
    await turns(1);
  }
  expect(lines()).toEqual([]);
  await turns(400);
  expect(fold.held('north Pod')).toHaveLength(499);
  expect(fold.whole()).toEqual(['north Pod']);
});

test('changes with a slow filter are judged in several turns, and sent as the selection sees them', async () => {
  const { clock, mirror, changes } = world(600, { lookMs: 3 });
  const { lines, fold } = await readEagerly(changes(), {});
  await turns(400);
  const told = lines().length;
  const events = Array.from({ length: 500 }, (_, index) => podOf(index, 1, index < 100 ? ['wanted-2'] : []));
  for (const pod of events) mirror.put(pod);
  mirror.put(podOf(1_000, 1, ['wanted-0']));
  mirror.remove(podOf(1_000, 1, ['wanted-0']));
  await turns(3);
  expect(lines(told)).toEqual([]);
  for (let turn = 0; turn < 40; turn += 1) {
    await clock.advance(5);
    await turns(20);
  }
  expect(fold.held('north Pod')).toHaveLength(100 + 50);
  expect(lines(told).join(' ')).not.toContain('pod-1000');
});

test('a reader that resumes with such a filter receives the missed changes', async () => {
  const { clock, mirror, changes } = world(300, { lookMs: 1 });
  const first = await readEagerly(changes(), {});
  await turns(400);
  const { cursor } = first.messages.at(-1) ?? {};
  first.reader[Symbol.dispose]();
  for (let index = 0; index < 200; index += 1) mirror.put(podOf(index, 1, index < 10 ? ['wanted-2'] : []));
  const resumed = await readEagerly(changes(cursor), { from: first.fold });
  for (let turn = 0; turn < 20; turn += 1) {
    await clock.advance(5);
    await turns(20);
  }
  expect(resumed.fold.held('north Pod')).toHaveLength(10 + 50);
});

test('a first state that costs more than an answer may ends the stream', async () => {
  const { mirror, streams } = world(0, {});
  const [text] = ['x'.repeat(2 << 20)];
  mirror.list(...Array.from({ length: 100 }, (_, index) => podOf(index, 0, [text])));
  if (kind === undefined) throw new Error('no Pods');
  const reading = await readEagerly(streams.changes(callerNamed('me'), kind, { where: inside(99) }), {});
  await turns(50);
  expect(reading.ended).toMatchObject({ code: 'TOO_COSTLY' });
  expect(reading.messages).toEqual([]);
});

test('a first state that costs more than an answer may ends no stream that reads already', async () => {
  const { clock, mirror, streams } = world(0, {});
  if (kind === undefined) throw new Error('no Pods');
  const changes = () => streams.changes(callerNamed('me'), kind, { where: inside(99) });
  const first = await readEagerly(changes(), {});
  await clock.advance(1_000);
  await turns(50);
  const text = 'x'.repeat(1 << 18);
  for (let index = 0; index < 800; index += 1) {
    mirror.put(podOf(index, 0, [text]));
    // Cuts after every second change: the mirror remembers no more changes of this size.
    if (index % 2 === 1) await clock.advance(1_000);
  }
  const second = await readEagerly(changes(), {});
  await turns(50);
  mirror.put(podOf(800, 0, ['wanted-5']));
  await clock.advance(1_000);
  await turns(50);
  expect(second.ended).toMatchObject({ code: 'TOO_COSTLY' });
  expect([first.ended, first.fold.held('north Pod').length]).toEqual([undefined, 1]);
});
