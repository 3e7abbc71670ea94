import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { codesOf, type LiveStream, transports } from '../../support/clients/live-socket.ts';
import { changesIn, PodReader, podChanges, untilAllHold } from '../../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { pod } from '../../support/workloads.ts';

// "A cursor is never an error, unless it is forged": an old cursor of a restarted gateway starts each cluster anew.

const clusters = ['north', 'south'];

async function startTwo(): Promise<TestGateway> {
  return startGateway({ north: [pod('web'), pod('old')], south: [pod('api')] });
}

async function readerOf(gateway: TestGateway): Promise<PodReader> {
  const reader = await PodReader.open(gateway);
  await untilAllHold(gateway, [reader], { clusters });
  return reader;
}

describe('after a restart', () => {
  test.each(transports)('an old cursor gives RESET per cluster over %s, and the client then holds the list again', async (over) => {
    await using gateway = await startTwo();
    const before = await readerOf(gateway);
    await gateway.restart();
    gateway.cluster('north').put(pod('new'));
    gateway.cluster('north').remove('Pod', 'old', 'default');
    const after = await before.resumed(gateway, { over });
    const begins = (name: string) => after.messages.some(({ type, cluster }) => type === 'SYNCED' && cluster.name === name);
    await gateway.until(() => clusters.every(begins));
    await untilAllHold(gateway, [after], { clusters });
    expect(codesOf(after.stream)).toEqual([]);
    for (const name of clusters) {
      const types = after.messages.filter(({ cluster }) => cluster.name === name).map(({ type }) => type);
      expect(types.slice(0, 3)).toEqual(['RESET', 'INITIAL', 'SYNCED']);
    }
  });

  test('a cluster that cannot be reached is a fault of the resumed stream, and the others begin anew', async () => {
    await using gateway = await startTwo();
    const before = await readerOf(gateway);
    using _down = gateway.cluster('south').refuse();
    gateway.cluster('south').disconnect();
    await gateway.restart();
    const after = await before.resumed(gateway);
    await gateway.until(() => after.held().synced().includes('north') && after.messages.some(({ fault }) => fault?.code === 'UNREACHABLE'));
    expect(after.messages.filter(({ type }) => type === 'FAILED').map(({ cluster }) => cluster.name)).toEqual(['south']);
    _down[Symbol.dispose]();
    await untilAllHold(gateway, [after], { clusters });
  });

  test('a cursor of a list is still valid', async () => {
    await using gateway = await startTwo();
    const page = `query ($after: String) { pods(first: 2, after: $after) { items { metadata { name } } pageInfo { endCursor } } }`;
    interface Page {
      readonly pods: {
        readonly items: readonly { readonly metadata: { readonly name: string } }[];
        readonly pageInfo: { readonly endCursor: string };
      };
    }
    const { pods } = await gateway.query<Page>(page);
    await gateway.restart();
    const rest = await gateway.query<Page>(page, { after: pods.pageInfo.endCursor });
    expect([...pods.items, ...rest.pods.items].map(({ metadata }) => metadata.name)).toEqual(['api', 'old', 'web']);
  });
});

/** Makes cursors that the gateway did not create for this stream, from one that it did. */
function foreignCursors(cursor: string): Readonly<Record<string, string>> {
  const middle = Math.floor(cursor.length / 2);
  const other = cursor[middle] === 'A' ? 'B' : 'A';
  return {
    empty: '',
    nonsense: 'bm9uc2Vuc2U',
    'not of the alphabet': '💥 not a cursor 💥',
    cut: cursor.slice(0, middle),
    'with something after it': `${cursor}AAAA`,
    'with one character changed': cursor.slice(0, middle) + other + cursor.slice(middle + 1),
    'with its last character changed': cursor.slice(0, -2) + (cursor.endsWith('AA') ? 'BB' : 'AA'),
    'long nonsense': createHash('sha512').update(cursor).digest('base64url').repeat(200),
    'a path': '__proto__',
  };
}

describe('A17: an invalid cursor', () => {
  const outcomeOf = async (gateway: TestGateway, stream: LiveStream) => {
    await gateway.until(() => stream.completed);
    expect(codesOf(stream)).toEqual(['BAD_INPUT']);
    const errors = [...(stream.refusal ?? []), ...stream.seen.flatMap((result) => result.errors ?? [])];
    return errors.map(({ message, path }) => ({ message, path }));
  };

  test.each(transports)('is one and the same BAD_INPUT over %s, whatever is wrong with it', async (transport) => {
    await using gateway = await startTwo();
    const reader = await readerOf(gateway);
    const cursor = reader.held().cursor ?? '';
    const list = await gateway.query<{ pods: { pageInfo: { endCursor: string } } }>('{ pods(first: 2) { pageInfo { endCursor } } }');
    const otherKind = await gateway.subscribe('subscription { namespaces { cursor } }');
    const otherFilter = await gateway.subscribe('subscription { pods(labels: "app=web") { cursor } }');
    await gateway.until(() => [otherKind, otherFilter].every(({ seen }) => seen.length > 0));
    const cursorOf = (stream: LiveStream, field: string) => changesIn(stream, field).at(-1)?.cursor ?? 'a cursor';
    const foreign = {
      ...foreignCursors(cursor),
      'of a list': list.pods.pageInfo.endCursor,
      'of another kind': cursorOf(otherKind, 'namespaces'),
      'of another filter': cursorOf(otherFilter, 'pods'),
    };
    const outcomes = new Set<string>();
    for (const [what, after] of Object.entries(foreign)) {
      const stream = await gateway.subscribe(podChanges, { after }, transport);
      outcomes.add(JSON.stringify(await outcomeOf(gateway, stream)));
      expect(
        stream.seen.flatMap(({ data }) => data ?? []),
        what,
      ).toEqual([]);
    }
    expect([...outcomes]).toHaveLength(1);
    // A list does not accept the cursor of a stream either.
    const { errors } = await gateway.ask('query ($after: String) { pods(after: $after) { totalCount } }', { after: cursor });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_INPUT']);
  });

  test('null means no cursor, and the stream starts from the beginning', async () => {
    await using gateway = await startTwo();
    const reader = await PodReader.open(gateway, { variables: { after: null } });
    await untilAllHold(gateway, [reader], { clusters });
    expect(reader.messages[0]?.type).toBe('INITIAL');
  });
});

test('a cursor is opaque: neither clusters nor versions can be read from it', async () => {
  await using gateway = await startTwo();
  const { messages } = await readerOf(gateway);
  const words = [...clusters, 'default', 'pods', 'Pod', 'cluster', 'version', 'epoch'];
  for (const { cursor } of messages) {
    expect(cursor).toMatch(/^[\w-]+$/);
    const bytes = Buffer.from(cursor, 'base64url').toString('latin1');
    for (const word of words) expect(bytes).not.toContain(word);
  }
});
