import { describe, expect, test } from 'vitest';
import { codesOf, LiveSocket, openStream } from '../../support/clients/live-socket.ts';
import { PodReader, podChanges, untilAllHold } from '../../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { pod } from '../../support/workloads.ts';

// "After a rollout all clients reconnect at once": accepted clients lose no change, refused clients get a time for their retry, and the API
// servers get no extra load.

const clusters = ['north', 'south'];

const upstream = (gateway: TestGateway, wanted: (resource: string) => boolean) =>
  clusters.flatMap((name) => gateway.cluster(name).requests).filter(({ resource }) => resource !== undefined && wanted(resource.resource))
    .length;

/** Opens a socket as clients do: it retries a little later if there is no room. Returns the number of refusals. */
async function insistOn(gateway: TestGateway): Promise<{ readonly socket: LiveSocket; readonly refusals: readonly string[] }> {
  const refusals: string[] = [];
  for (;;) {
    try {
      return { socket: await LiveSocket.open(gateway.url), refusals };
    } catch (error) {
      refusals.push(String(error));
      if (refusals.length > 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

describe('C4: a mass reconnect', () => {
  test('of 400 streams on 100 sockets with their cursors loses nothing, and causes no request to the API servers', async () => {
    await using gateway = await startGateway({ north: [pod('web'), pod('goes')], south: [pod('api')] });
    const first = await Promise.all(Array.from({ length: 8 }, () => PodReader.open(gateway)));
    await untilAllHold(gateway, first, { clusters });
    const before = {
      reviews: upstream(gateway, (resource) => /reviews$/.test(resource)),
      pods: upstream(gateway, (resource) => resource === 'pods'),
    };
    for (const { stream } of first) stream.destroy();
    gateway.cluster('north').remove('Pod', 'goes', 'default');
    gateway.cluster('south').put(pod('new'));
    await gateway.pass(500);

    const sockets = await Promise.all(Array.from({ length: 100 }, () => insistOn(gateway)));
    const readers = await Promise.all(
      sockets.flatMap(({ socket }, n) =>
        Array.from(
          { length: 4 },
          (_, place) =>
            first[(n + place) % first.length]?.resumed(gateway, { over: socket }) ?? Promise.reject(new Error('expected a reader')),
        ),
      ),
    );
    gateway.cluster('north').put(pod('meanwhile'));
    await untilAllHold(gateway, readers, { clusters });
    for (const reader of readers) {
      expect(reader.messages.filter(({ type }) => type === 'RESET' || type === 'INITIAL')).toEqual([]);
      expect(reader.messages.flatMap(({ deleted }) => deleted).map(({ metadata }) => metadata.name)).toEqual(['goes']);
    }
    expect(upstream(gateway, (resource) => /reviews$/.test(resource))).toBe(before.reviews);
    expect(upstream(gateway, (resource) => resource === 'pods')).toBe(before.pods);
    // At most 20 may connect at once. The others got 429 and came back.
    const answers = new Set(sockets.flatMap(({ refusals }) => refusals));
    expect([...answers].filter((answer) => !answer.includes('got 429'))).toEqual([]);
  });

  test('beyond the bound of streams is OVERLOADED for each excess stream, on both transports, until others have ended', async () => {
    await using gateway = await startGateway({ north: [pod('web')], south: [] }, { configFile: { limits: { streams: 60 } } });
    const sockets = await Promise.all([1, 2].map(() => LiveSocket.open(gateway.url)));
    const streams = sockets.flatMap((socket) => Array.from({ length: 40 }, () => socket.start(podChanges)));
    await gateway.until(() => streams.every(({ completed, seen }) => completed || seen.length > 0));
    const refused = streams.filter(({ completed }) => completed);
    expect(refused).toHaveLength(20);
    expect(new Set(refused.flatMap(codesOf))).toEqual(new Set(['OVERLOADED']));
    const events = await openStream('sse', gateway.url, { query: podChanges });
    await gateway.until(() => events.completed);
    expect(codesOf(events)).toEqual(['OVERLOADED']);
    expect(await gateway.query('{ pods { totalCount } }')).toEqual({ pods: { totalCount: 1 } });
    for (const stream of streams) stream.stop();
    await gateway.pass(200);
    const later = await PodReader.open(gateway, { over: 'sse' });
    await untilAllHold(gateway, [later], { clusters });
  });
});
