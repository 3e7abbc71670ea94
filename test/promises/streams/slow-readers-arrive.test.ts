import { expect, test, vi } from 'vitest';
import { transports } from '../../support/clients/live-socket.ts';
import { changesIn } from '../../support/gateway/pod-reader.ts';
import { startGateway } from '../../support/gateway/start-gateway.ts';

// "A slow but steady reader is not cut off": an initial state comes in messages of at most 256 KiB, and each of them can be resumed.

const count = 200;
const mapOf = (n: number, data: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `map-${String(n).padStart(3, '0')}`, namespace: 'default' },
  data: { text: data },
});
const query =
  'subscription ($after: String) { configMaps(after: $after) { type cursor added { id object } modified { id } deleted { id } } }';
const large = () => Array.from({ length: count }, (_, n) => mapOf(n, `${n} `.padEnd(50_000, 'x')));

test.each(transports)('over %s a first state of 10 MB comes in messages of at most 256 KiB', async (transport) => {
  await using gateway = await startGateway({ north: large() });
  const stream = await gateway.subscribe(query, {}, transport);
  await gateway.until(() => changesIn(stream, 'configMaps').some(({ type }) => type === 'SYNCED'));
  expect(new Set(changesIn(stream, 'configMaps').flatMap(({ added }) => added.map(({ id }) => id))).size).toBe(count);
  const longest = Math.max(...stream.texts.map((text) => text.length));
  expect(longest).toBeLessThanOrEqual(256 << 10);
  stream.stop();
});

test.each(transports)('over %s a client that takes a message and leaves again and again gets the whole first state', async (transport) => {
  await using gateway = await startGateway({ north: large() });
  const held = new Set<string>();
  let after: string | undefined;
  let isWhole = false;
  for (let round = 0; round < count && !isWhole; round++) {
    const stream = await gateway.subscribe(query, after === undefined ? {} : { after }, transport);
    await gateway.until(() => changesIn(stream, 'configMaps').length >= 1);
    for (const { type, cursor, added } of changesIn(stream, 'configMaps').slice(0, 10)) {
      expect(type).not.toBe('RESET');
      for (const { id } of added) held.add(id);
      after = cursor;
      isWhole ||= type === 'SYNCED';
    }
    stream.destroy();
  }
  expect(held.size).toBe(count);
});

test.each(transports)(
  'over %s a client that takes some bytes now and then gets a first state of 20 MB',
  async (transport) => {
    await using gateway = await startGateway({ north: Array.from({ length: 20 }, (_, n) => mapOf(n, `${n} `.padEnd(1_000_000, 'x'))) });
    const stream = await gateway.subscribe(query, {}, transport);
    const told = () => changesIn(stream, 'configMaps');
    let paused = stream.pauseReading();
    await gateway.pass(24_000);
    while (!told().some(({ type }) => type === 'SYNCED')) {
      const before = told().length;
      paused[Symbol.dispose]();
      await vi.waitUntil(() => told().length > before || stream.closed !== undefined, { timeout: 10_000 });
      paused = stream.pauseReading();
      expect(stream.closed).toBeUndefined();
      await gateway.pass(24_000);
    }
    paused[Symbol.dispose]();
    expect(told().flatMap(({ added }) => added)).toHaveLength(20);
    stream.destroy();
  },
  60_000,
);
