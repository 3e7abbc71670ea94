import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { FrameWriter } from '../../../src/serve/web-socket/frame-writer.ts';
import { FrameDecoder } from '../../bench/frame-decoder.ts';

interface Line extends AsyncDisposable {
  /** The end to which the writer writes. */
  readonly near: Socket;
  /** The end that reads. */
  readonly far: Socket;
  /** The text frames that have arrived. */
  readonly texts: string[];
}

/** Opens a connection whose far end decodes frames. */
async function openLine(): Promise<Line> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('expected a port');
  const accepted = once(server, 'connection');
  const far = connect(address.port, '127.0.0.1');
  const [near] = (await accepted) as [Socket];
  const texts: string[] = [];
  const decoder = new FrameDecoder((_, payload) => texts.push(payload.toString()));
  far.on('data', (bytes: Buffer) => decoder.push(bytes));
  const close = async () => {
    near.destroy();
    far.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { near, far, texts, [Symbol.asyncDispose]: close };
}

/** A socket whose kernel takes nothing. */
class StuckSocket extends Socket {
  readonly held: Buffer[] = [];

  override _write(bytes: Buffer): void {
    this.held.push(bytes);
  }
}

const head = (id: string) => Buffer.from(`{"id":"${id}","payload":`);
const whole = (id: string, json: Buffer) => `{"id":"${id}","payload":${json}}`;
const jsonOf = (length: number, letter = 'x') => Buffer.from(JSON.stringify(letter.repeat(length)));

test.each([1, 200, 1_000, 20_000, 100_000])('each socket gets its own frame header before %i shared bytes', async (length) => {
  await using one = await openLine();
  await using other = await openLine();
  const writer = new FrameWriter();
  const [first, second] = [jsonOf(length), jsonOf(length, 'y')];
  const written: [Line, string, Buffer][] = [
    [one, '1', first],
    [other, '2', first],
    [one, 'longer', first],
    [other, '3', second],
    [one, '4', second],
  ];
  for (const [{ near }, id, json] of written) writer.writeLast(near, head(id), json);
  const expected = (line: Line) => written.filter(([to]) => to === line).map(([, id, json]) => whole(id, json));
  await vi.waitFor(() => expect([one.texts, other.texts]).toEqual([expected(one), expected(other)]));
});

test('bytes that a socket could not take stay as they were, whatever is written to others after it', async () => {
  await using other = await openLine();
  const stuck = new StuckSocket();
  const writer = new FrameWriter();
  const json = jsonOf(15_000);
  writer.writeLast(stuck, head('abcd'), json);
  for (const id of ['efgh', 'ijkl']) writer.writeLast(other.near, head(id), json);
  writer.writeLast(stuck, head('mnop'), json);
  expect(Buffer.concat(stuck.held).toString('latin1')).toContain(whole('abcd', json));
  await vi.waitFor(() => expect(other.texts).toEqual([whole('efgh', json), whole('ijkl', json)]));
});

test('frames of one turn are collected, and all are written with the last one', async () => {
  await using line = await openLine();
  const writer = new FrameWriter();
  const json = jsonOf(100);
  expect(writer.write(line.near, head('1'), json)).toBeGreaterThan(0);
  expect(writer.write(line.near, head('2'), json)).toBeGreaterThan(0);
  expect(line.near.writableLength).toBeGreaterThan(200);
  expect(writer.writeLast(line.near, head('3'), json)).toBe(0);
  expect([line.near.writableLength, line.near.writableCorked]).toEqual([0, 0]);
  expect(writer.write(line.near, head('4'), json)).toBeGreaterThan(0);
  await nextTurn();
  expect([line.near.writableLength, line.near.writableCorked]).toEqual([0, 0]);
  await vi.waitFor(() => expect(line.texts).toEqual(['1', '2', '3', '4'].map((id) => whole(id, json))));
});
