import { afterEach, describe, expect, test } from 'vitest';
import type { LogPart, LogRequest } from '../../../src/cluster/cluster-api.ts';
import { createLogLineCutter } from '../../../src/cluster/decoding/log-lines.ts';
import {
  type Connected,
  configMapResource,
  connect,
  endpointFor,
  gather,
  never,
  pageOf,
  startOf,
  until,
} from '../../support/cluster/transport.ts';
import { createManualClock, turns } from '../../support/manual-clock.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import type { SimCluster, SimClusterOptions } from '../../support/sim/sim-cluster.ts';
import { startSimCluster } from '../../support/sim/start-sim-cluster.ts';
import { speakingNode, speakingPod } from '../../support/speaking-pods.ts';

const open: SimCluster[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sim) => sim.stop()));
});

async function start(options: Partial<SimClusterOptions> = {}): Promise<SimCluster> {
  const sim = await startSimCluster({ name: 'south', ...options });
  open.push(sim);
  sim.put(speakingNode);
  sim.put(speakingPod());
  return sim;
}

const main = { pod: 'web', container: 'main' };

function requestOf(more: Partial<LogRequest> = {}): LogRequest {
  return { namespace: 'default', ...main, follow: false, previous: false, timestamps: false, ...more };
}

interface Read {
  readonly lines: readonly string[];
  readonly bytes: number;
  readonly isCut: boolean;
  readonly last: LogPart | undefined;
  readonly types: readonly LogPart['type'][];
}

/** Collects all parts, with lines as Latin-1. Ends with the last part, or after this many lines. */
async function read(parts: AsyncIterable<LogPart>, enough = Number.POSITIVE_INFINITY): Promise<Read> {
  const lines: string[] = [];
  const types: LogPart['type'][] = [];
  let bytes = 0;
  let isCut = false;
  let last: LogPart | undefined;
  for await (const part of parts) {
    last = part;
    types.push(part.type);
    if (part.type !== 'lines') continue;
    lines.push(...part.lines.map((line) => Buffer.from(line).toString('latin1')));
    bytes += part.bytes;
    isCut = part.isCut;
    if (lines.length >= enough) break;
  }
  return { lines, bytes, isCut, last, types };
}

const faultOf = ({ last }: Read) => (last?.type === 'failed' ? last.fault : undefined);
const logOf = ({ api }: Connected, more: Partial<LogRequest> = {}, signal = never) => api.logs(requestOf(more), signal);

describe.each(['h2', 'http1'] as const)('over %s', (protocols) => {
  test('lines come as they were written, whatever bytes they are', async () => {
    const sim = await start({ protocols });
    const odd = Buffer.from([0x00, 0xff, 0xc3, 0x28, 0x0d]);
    sim.writeLog(main, 'one', '', odd, 'four\r', 'fünf');
    using south = connect(endpointFor(sim));
    const { lines, bytes, isCut, types } = await read(logOf(south));
    expect(lines).toEqual(['one', '', odd.toString('latin1'), 'four\r', Buffer.from('fünf').toString('latin1')]);
    expect(bytes).toBe(4 + 1 + 6 + 6 + 6);
    expect(isCut).toBe(false);
    expect([types[0], types.at(-1)]).toEqual(['opened', 'closed']);
  });

  test('every parameter of the request reaches the server', async () => {
    const sim = await start({ protocols });
    sim.writeLog(main, 'one', 'two', 'three');
    using south = connect(endpointFor(sim));
    expect((await read(logOf(south, { tailLines: 2 }))).lines).toEqual(['two', 'three']);
    expect((await read(logOf(south, { tailLines: 0 }))).lines).toEqual([]);
    const cut = await read(logOf(south, { limitBytes: 6 }));
    expect([cut.lines, cut.bytes, cut.isCut]).toEqual([['one', 'tw'], 6, true]);
    const timed = await read(logOf(south, { timestamps: true, tailLines: 1 }));
    expect(timed.lines[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z three$/);
    await read(logOf(south, { sinceTime: '2026-01-01T00:00:00Z' }));
    await read(logOf(south, { sinceSeconds: 5, previous: true }));
    expect(sim.requests.slice(-2).map(({ query }) => query)).toEqual([
      { container: 'main', sinceTime: '2026-01-01T00:00:00Z' },
      { container: 'main', previous: 'true', sinceSeconds: '5' },
    ]);
    expect(new Set(sim.requests.map(({ path }) => path))).toEqual(new Set(['/api/v1/namespaces/default/pods/web/log']));
  });

  test('a long line comes in pieces, and the next one whole', async () => {
    const sim = await start({ protocols });
    sim.writeLog(main, 'x'.repeat(600_000), 'next');
    using south = connect(endpointFor(sim));
    const { lines, bytes } = await read(logOf(south));
    expect(lines.map(({ length }) => length)).toEqual([262_144, 262_144, 600_000 - 2 * 262_144, 4]);
    expect(bytes).toBe(600_001 + 5);
  });

  test('a followed log sends lines when they are written, and ends with the container', async () => {
    const sim = await start({ protocols });
    sim.writeLog(main, 'old');
    using south = connect(endpointFor(sim));
    const lines: string[] = [];
    const reading = (async () => {
      for await (const part of logOf(south, { follow: true })) {
        if (part.type === 'lines') lines.push(...part.lines.map((line) => Buffer.from(line).toString()));
        if (part.type === 'closed') lines.push('closed');
      }
    })();
    await until(() => lines.length === 1);
    sim.writeLog(main, 'new');
    await until(() => lines.length === 2);
    sim.put(speakingPod({ states: { main: 'ended' } }));
    await reading;
    expect(lines).toEqual(['old', 'new', 'closed']);
  });

  test('a log that is not read stops the server, and comes whole once it is read', async () => {
    const sim = await start({ protocols });
    const line = 'x'.repeat(64 << 10);
    const count = 256;
    sim.writeLog(main, ...Array.from({ length: count }, () => line));
    using south = connect(endpointFor(sim));
    const unread = logOf(south)[Symbol.asyncIterator]();
    expect((await unread.next()).value).toEqual({ type: 'opened' });
    // The same log, read at once. Without back-pressure, the log before it would have come as quickly.
    expect((await read(logOf(south))).lines.length).toBe(count);
    const [first, second] = sim.requests;
    await until(() => second?.endedMs !== undefined);
    expect(first?.endedMs).toBeUndefined();
    expect((await read({ [Symbol.asyncIterator]: () => unread })).lines.length).toBe(count);
    await until(() => first?.endedMs !== undefined);
  });

  test('an abort ends the request upstream, without a further part', async () => {
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim));
    const leaving = new AbortController();
    const reading = read(logOf(south, { follow: true }, leaving.signal));
    await until(() => sim.requests[0]?.status === 200);
    leaving.abort();
    expect((await reading).types.filter((type) => type !== 'opened')).toEqual([]);
    await until(() => sim.requests[0]?.endedMs !== undefined);
  });

  test('a reader that stops reading ends the request upstream', async () => {
    const sim = await start({ protocols });
    sim.writeLog(main, 'one');
    using south = connect(endpointFor(sim));
    expect((await read(logOf(south, { follow: true }), 1)).lines).toEqual(['one']);
    await until(() => sim.requests[0]?.endedMs !== undefined);
  });

  test('a reader that does not take the next part holds the server back, and loses nothing', async () => {
    const sim = await start({ protocols });
    const line = 'x'.repeat(4_000);
    for (let n = 0; n < 8; n++) sim.writeLog(main, ...Array.from({ length: 500 }, () => line));
    using south = connect(endpointFor(sim));
    let count = 0;
    for await (const part of logOf(south)) {
      if (part.type !== 'lines') continue;
      if (count === 0) {
        // An unpaused server would have sent everything by now.
        for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
        expect(sim.requests[0]?.endedMs).toBeUndefined();
      }
      count += part.lines.length;
    }
    expect(count).toBe(4_000);
  });

  test('refusals of the server become faults by their meaning', async () => {
    const sim = await start({ protocols });
    sim.put(speakingPod({ name: 'new', states: { main: 'waiting' } }));
    sim.put(speakingPod({ name: 'unpulled', states: { main: { waiting: 'ImagePullBackOff' } } }));
    const { spec: _, ...loose } = speakingPod({ name: 'loose' });
    sim.put({ ...loose, spec: { containers: [{ name: 'main' }] } });
    using south = connect(endpointFor(sim));
    const fault = async (more: Partial<LogRequest>) => {
      const told = faultOf(await read(logOf(south, more)));
      return [told?.code, told?.retry, told?.kind?.kind];
    };
    expect(await fault({ pod: 'none' })).toEqual(['NOT_FOUND', 'NEVER', 'Pod']);
    expect(await fault({ container: 'none' })).toEqual(['INVALID', 'NEVER', 'Pod']);
    expect(await fault({ pod: 'new' })).toEqual(['NOT_FOUND', 'LATER', 'Pod']);
    expect(await fault({ pod: 'unpulled', follow: true })).toEqual(['NOT_FOUND', 'LATER', 'Pod']);
    expect(await fault({ pod: 'loose' })).toEqual(['NOT_FOUND', 'LATER', 'Pod']);
    expect(await fault({ previous: true })).toEqual(['NOT_FOUND', 'NEVER', 'Pod']);
    expect(await fault({ pod: '..' })).toEqual(['INVALID', 'NEVER', 'Pod']);
    expect(await fault({ tailLines: -1 })).toEqual(['INVALID', 'NEVER', 'Pod']);
    {
      using _forbidden = sim.forbid({ resource: 'pods/log' });
      expect(await fault({})).toEqual(['FORBIDDEN', 'NEVER', 'Pod']);
    }
    sim.answer({ status: 200, headers: { 'content-type': 'text/html' }, body: '<p>' }, { path: '/api/v1/namespaces/default/pods/web/log' });
    expect(await fault({})).toEqual(['MALFORMED', 'LATER', 'Pod']);
    expect(await fault({})).toEqual([undefined, undefined, undefined]);
  });

  test('a lost connection is a fault after the received lines', async () => {
    const sim = await start({ protocols });
    sim.writeLog(main, 'one');
    using south = connect(endpointFor(sim));
    const reading = read(logOf(south, { follow: true }));
    await until(() => sim.requests[0]?.status === 200);
    await turns();
    await sim.stop();
    const told = await reading;
    expect([told.lines, faultOf(told)?.code]).toEqual([['one'], 'UNREACHABLE']);
  });

  test('a log that does not end within 10 s is a fault; one that is followed may be silent once it was answered', async () => {
    const clock = createManualClock();
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim), clock);
    using _stalled = sim.stall({ resource: 'pods' });
    const whole = read(logOf(south));
    const followed = read(logOf(south, { follow: true }));
    await until(() => sim.requests.length === 2);
    await clock.advance(10_000);
    expect([faultOf(await whole)?.code, faultOf(await followed)?.code]).toEqual(['TIMED_OUT', 'TIMED_OUT']);
    _stalled[Symbol.dispose]();
    const lines: string[] = [];
    const leaving = new AbortController();
    const silent = (async () => {
      for await (const part of logOf(south, { follow: true }, leaving.signal)) lines.push(part.type);
    })();
    await until(() => lines.length === 1);
    await clock.advance(15_000);
    sim.writeLog(main, 'late');
    await until(() => lines.length === 2);
    expect(lines).toEqual(['opened', 'lines']);
    leaving.abort();
    await silent;
  });

  test('a hundred followed logs leave room for watches, lists and live calls', async () => {
    const sim = await start({ protocols });
    using south = connect(endpointFor(sim));
    const leaving = new AbortController();
    let opened = 0;
    const follows = Array.from({ length: 100 }, async () => {
      for await (const part of logOf(south, { follow: true }, leaving.signal)) if (part.type === 'opened') opened++;
    });
    await until(() => opened === 100);
    let watching = 0;
    const watches = Array.from({ length: 30 }, async () => {
      for await (const part of south.api.watch(startOf(configMapResource), leaving.signal)) if (part.type === 'opened') watching++;
    });
    await until(() => watching === 30);
    const lists = await Promise.all(Array.from({ length: 30 }, () => gather(south.api.list(pageOf(configMapResource), never))));
    expect(lists.every(({ last }) => last?.type === 'pageEnded')).toBe(true);
    expect((await south.api.send({ method: 'GET', path: ['version'] }, never)).type).toBe('answered');
    leaving.abort();
    await Promise.all([...follows, ...watches]);
    await until(() => sim.requests.every(({ endedMs }) => endedMs !== undefined));
  });
});

test('however many logs are followed, mirrors find room for their watches', async () => {
  const sim = await start({ protocols: 'h2', maxConcurrentStreams: 10 });
  using south = connect(endpointFor(sim));
  const leaving = new AbortController();
  let opened = 0;
  const follows = Array.from({ length: 60 }, async () => {
    for await (const part of logOf(south, { follow: true }, leaving.signal)) if (part.type === 'opened') opened++;
  });
  // Two fifths of four connections. The others wait.
  await until(() => opened === 16);
  let watching = 0;
  const watches = Array.from({ length: 16 }, async () => {
    for await (const part of south.api.watch(startOf(configMapResource), leaving.signal)) if (part.type === 'opened') watching++;
  });
  await until(() => watching === 16);
  expect((await gather(south.api.list(pageOf(configMapResource), never))).last?.type).toBe('pageEnded');
  expect(opened).toBe(16);
  leaving.abort();
  await Promise.all([...follows, ...watches]);
});

test('the lines are the same however the bytes are split into chunks', () => {
  const random = seededRandom(7);
  for (let round = 0; round < 300; round++) {
    const text = Buffer.from(Array.from({ length: Math.floor(random() * 60) }, () => 'ab\r\n'[Math.floor(random() * 4)]).join(''));
    const cutter = createLogLineCutter(5);
    const lines: string[] = [];
    for (let from = 0; from < text.length; ) {
      const to = from + 1 + Math.floor(random() * 9);
      lines.push(...cutter.push(text.subarray(from, to)).map((line) => Buffer.from(line).toString()));
      from = to;
    }
    const rest = cutter.end();
    if (rest !== undefined) lines.push(Buffer.from(rest).toString());
    expect(lines).toEqual(naiveLines(text.toString(), 5));
  }
});

/** Splits lines into pieces of at most `size` characters. An empty line counts as a line. */
function naiveLines(text: string, size: number): readonly string[] {
  const lines = text.split('\n');
  const rest = lines.pop() ?? '';
  const piecesOf = (line: string): string[] => (line.length <= size ? [line] : [line.slice(0, size), ...piecesOf(line.slice(size))]);
  return [...lines.flatMap(piecesOf), ...(rest === '' ? [] : piecesOf(rest))];
}
