import { expect, test, vi } from 'vitest';
import type { StreamListener } from '../../../src/streams/stream-source.ts';
import { createLogWorld } from '../../support/graph/log-world.ts';
import { readContext } from '../../support/graph/read-context.ts';
import { turns } from '../../support/manual-clock.ts';
import { createRestrictingAccess } from '../../support/restricting-access.ts';

const ignore = () => undefined;
const fail = () => {
  throw new Error('a bug of a listener');
};

test('a listener that throws when messages are ready is logged, and only its stream ends', async () => {
  const world = createLogWorld();
  const north = world.join('north', {});
  world.logsOf('north').of('default', 'web', 'main').write('a');
  const signal = new AbortController().signal;
  let calls = 0;
  const good: StreamListener = { ready: () => calls++, ended: ignore };
  const open = (listener: StreamListener) => world.logs.follow(readContext(world), {}, {}).open(listener, signal);
  const bad = await open({ ready: fail, ended: ignore });
  using other = await open(good);
  await turns();
  expect([bad.take(), other.take()?.lines.length, calls]).toEqual([undefined, 1, 1]);
  expect(world.logged.map(({ fields }) => String(fields.err))).toEqual(['Error: a bug of a listener']);
  other[Symbol.dispose]();
  expect(north.leases).toBe(0);
});

test('a listener that throws at the end of its stream is logged, and only its stream ends', async () => {
  const rights = { me: { north: ['default'] } };
  const world = createLogWorld({ access: createRestrictingAccess(rights) });
  const north = world.join('north', {});
  world.logsOf('north').of('default', 'web', 'main');
  await world.logs.follow(readContext(world), {}, {}).open({ ready: ignore, ended: fail }, new AbortController().signal);
  await turns();
  rights.me.north = [];
  await world.clock.advance(60_000);
  await turns();
  expect(world.logged.map(({ fields }) => String(fields.err))).toEqual(['Error: a bug of a listener']);
  expect(north.leases).toBe(0);
});

test('an error while the Pods of a returned cluster are loaded ends only the stream, with an error', async () => {
  const world = createLogWorld();
  const north = world.join('north', {});
  world.logsOf('north').of('default', 'web', 'main');
  const ended = vi.fn();
  await world.logs.follow(readContext(world), {}, {}).open({ ready: ignore, ended }, new AbortController().signal);
  await turns();
  north.leave();
  await turns();
  vi.spyOn(world.mirrors, 'acquire').mockImplementation(fail);
  const again = world.join('north', {});
  await turns();
  expect(world.logged.map(({ fields }) => String(fields.err))).toEqual(['Error: a bug of a listener']);
  expect(ended.mock.calls).toMatchObject([[{ code: 'UNAVAILABLE' }]]);
  expect([north.leases, again.leases]).toEqual([0, 0]);
});
