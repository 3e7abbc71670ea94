import { expect, test } from 'vitest';
import { createLocalAccess } from '../../src/access/local-access.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Model, ModelKind } from '../../src/model/model.ts';
import { createStreams, type OwnedStreams } from '../../src/streams/views/create-streams.ts';
import { createFakeMirrors } from '../support/graph/fake-mirrors.ts';
import { callerNamed, readEagerly } from '../support/graph/stream-fold.ts';
import { loadBaseline, objectNamed, servedAs } from '../support/kubernetes-objects.ts';
import { createManualClock, turns } from '../support/manual-clock.ts';

const baseline = loadBaseline();
const pods = servedAs(baseline, 'Pod');

/** Makes streams over one cluster with one Pod, with a model that the test changes. */
function streamsOf() {
  const clock = createManualClock();
  const mirrors = createFakeMirrors(clock);
  const north = mirrors.join('north');
  north.discover(pods);
  north.mirror(pods).list(objectNamed('a', { namespace: 'shop' }));
  const life = new AbortController();
  let model: Model = baseline;
  let changed = () => undefined as unknown;
  const streams: OwnedStreams = createStreams(
    {
      mirrors,
      access: createLocalAccess(),
      model: () => model,
      onModel: (callback) => {
        changed = callback;
      },
      settingsOf: () => undefined,
      sealKey: new Uint8Array(32),
      clock,
      log: silentLog,
    },
    life.signal,
  );
  return {
    streams,
    north,
    clock,
    life,
    /** Changes the model: Pods are now this kind. Undefined: the model has no Pods. */
    become(pod: ModelKind | undefined) {
      const kinds = new Map(baseline.kinds);
      kinds.delete('Pod');
      if (pod !== undefined) kinds.set('Pod', pod);
      model = { ...baseline, kinds };
      changed();
    },
  };
}

const podKind = (): ModelKind => {
  const kind = baseline.kinds.get('Pod');
  if (kind === undefined) throw new Error('no Pods');
  return kind;
};

test.each([
  ['that the model has no more', undefined],
  ['that nobody serves any more', { ...podKind(), deprecated: 'no cluster serves it' }],
])('the streams of a kind %s end', async (_, next) => {
  const { streams, become } = streamsOf();
  const read = await readEagerly(streams.changes(callerNamed('me'), podKind(), {}));
  const others = await readEagerly(streams.changesOfKinds(callerNamed('me'), { model: baseline, kinds: ['jobs'] }, {}));
  await turns();
  become(next);
  await turns();
  expect([read.ended?.code, others.ended]).toEqual(['GONE', undefined]);
  expect(streams.counts()).toMatchObject({ views: 1, readers: 1 });
});

test('a model that still has the kind does not end them, and later streams have a view of their own', async () => {
  const { streams, become } = streamsOf();
  const read = await readEagerly(streams.changes(callerNamed('me'), podKind(), {}));
  await turns();
  become({ ...podKind() });
  const later = await readEagerly(streams.changes(callerNamed('me'), podKind(), {}));
  await turns();
  expect([read.ended, later.lines()]).toEqual([undefined, ['INITIAL north +a', 'SYNCED north']]);
  expect(streams.counts().views).toBe(2);
});

test('the streams of a kind that was deprecated when they began wait until a cluster serves it', async () => {
  const { streams, become } = streamsOf();
  const forsaken = { ...podKind(), deprecated: 'no cluster serves it' };
  become(forsaken);
  const read = await readEagerly(streams.changes(callerNamed('me'), forsaken, {}));
  await turns();
  become({ ...forsaken });
  await turns();
  expect(read.ended).toBeUndefined();
});

test('all end with the process, without a message, and none begins after it', async () => {
  const { streams, life, north, clock } = streamsOf();
  const source = streams.changes(callerNamed('me'), podKind(), {});
  const read = await readEagerly(source);
  await turns();
  life.abort();
  await turns();
  expect([read.ended, streams.counts(), north.leases, clock.sleepers]).toEqual([undefined, { views: 0, readers: 0, queuedBytes: 0 }, 0, 0]);
  await expect(readEagerly(source)).rejects.toThrow(expect.objectContaining({ code: 'SHUTTING_DOWN' }));
});
