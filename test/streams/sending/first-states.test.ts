import { expect, test } from 'vitest';
import type { LiveStream } from '../../support/clients/live-socket.ts';
import { changesIn } from '../../support/gateway/pod-reader.ts';
import { startGateway, type TestGateway } from '../../support/gateway/start-gateway.ts';
import { pod } from '../../support/workloads.ts';

// Streams of one document share the results made from a message. A new stream still gets the state of the moment in which it begins.

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: { app: 'web' } },
};

const isSynced = (stream: LiveStream, field: string) => changesIn(stream, field).some(({ type }) => type === 'SYNCED');

async function openSynced(gateway: TestGateway, field: string, query: string): Promise<LiveStream> {
  const stream = await gateway.subscribe(query);
  await gateway.until(() => isSynced(stream, field));
  return stream;
}

interface Age {
  readonly asOf: string;
  readonly ageSeconds: number;
}

interface AddedService {
  readonly sync: Age;
  readonly cluster: Age;
  readonly pods: { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
}

function addedIn(stream: LiveStream): AddedService | undefined {
  return changesIn(stream, 'services').flatMap(({ added }) => added as readonly unknown[] as readonly AddedService[])[0];
}

test('a new stream shows related objects as they are when it begins, however many streams of the same document existed before', async () => {
  await using gateway = await startGateway({ north: [service, pod('web')] });
  const query = 'subscription { services { type added { pods { items { metadata { name } } } } } }';
  const namesIn = (stream: LiveStream) => addedIn(stream)?.pods.items.map(({ metadata }) => metadata.name);
  const first = await openSynced(gateway, 'services', query);
  const second = await openSynced(gateway, 'services', query);
  expect([namesIn(first), namesIn(second)]).toEqual([['web'], ['web']]);
  gateway.cluster('north').remove('Pod', 'web', 'default');
  await gateway.until(async () => {
    const { pods } = await gateway.query<{ readonly pods: { readonly totalCount: number } }>('{ pods { totalCount } }');
    return pods.totalCount === 0;
  });
  expect(namesIn(await openSynced(gateway, 'services', query))).toEqual([]);
});

test('a stream that resumes shows related objects as they are then', async () => {
  await using gateway = await startGateway({ north: [service, pod('web')] });
  const query = (after: string) =>
    `subscription { services(after: "${after}") { type cursor added { metadata { name } } modified { pods { items { metadata { name } } } } } }`;
  const first = await openSynced(gateway, 'services', query('').replace('(after: "")', ''));
  const after = changesIn(first, 'services').at(-1)?.cursor ?? '';
  gateway.cluster('north').put({ ...service, metadata: { ...service.metadata, labels: { changed: 'yes' } } });
  await gateway.until(() => changesIn(first, 'services').some(({ type }) => type === 'LIVE'));
  const resumed = async () => {
    const stream = await gateway.subscribe(query(after));
    await gateway.until(() => changesIn(stream, 'services').some(({ type }) => type === 'LIVE'));
    const [modified] = changesIn(stream, 'services').flatMap(
      (message) => message.modified as readonly unknown[] as readonly AddedService[],
    );
    return modified?.pods.items.map(({ metadata }) => metadata.name);
  };
  expect(await resumed()).toEqual(['web']);
  gateway.cluster('north').put(pod('web-2', { labels: { app: 'web' } }));
  await gateway.pass(100);
  expect(await resumed()).toEqual(['web', 'web-2']);
});

test('ages and the state of the cluster in a first state are those of the moment', async () => {
  await using gateway = await startGateway({ north: [service] });
  const query = 'subscription { services { type added { sync { asOf ageSeconds } cluster { asOf ageSeconds } } } }';
  // The first stream starts the mirror. The second one gets a first state that later streams share.
  await openSynced(gateway, 'services', query);
  await openSynced(gateway, 'services', query);
  await gateway.pass(2_000);
  const { sync, cluster } = addedIn(await openSynced(gateway, 'services', query)) ?? {};
  for (const told of [sync, cluster]) {
    const rendered = Date.parse(told?.asOf ?? '') + (told?.ageSeconds ?? 0) * 1000;
    expect(gateway.clock.now() - rendered).toBeLessThan(1_000);
  }
});

test('results that cannot have changed are still made once for all streams', async () => {
  await using gateway = await startGateway({ north: [service, pod('web')] });
  const query =
    'subscription { services { type cluster { id name } added { id metadata { name } spec { selector } sync { kind { kind } } } } }';
  const [first, second] = [await openSynced(gateway, 'services', query), await openSynced(gateway, 'services', query)];
  expect(second.texts).toEqual(first.texts);
});
