import { once } from 'node:events';
import { createServer } from 'node:http';
import { useServer } from 'graphql-ws/use/ws';
import { createPubSub, createSchema, createYoga } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import { fifteenLeaves } from '../../fifteen-leaves.ts';
import { podOf } from '../../pods.ts';
import { portOf } from './floors.ts';
import { type Publisher, podStream } from './publisher.ts';

/** The part of our schema that the readers select. Plain objects and default resolvers keep it as fast as possible. */
const typeDefs = `
  scalar StringMap
  type Query { ok: Boolean }
  type Subscription { pods: PodChanges! }
  type PodChanges { type: String! cursor: String! cluster: Cluster! fault: Fault added: [Pod!]! modified: [Pod!]! deleted: [Pod!]! }
  type Fault { code: String! }
  type Cluster { name: String! }
  type Pod { id: ID! kind: String! cluster: Cluster! metadata: Metadata! spec: Spec status: Status }
  type Metadata { name: String! namespace: String uid: String creationTimestamp: String resourceVersion: String labels: StringMap }
  type Spec { nodeName: String serviceAccountName: String restartPolicy: String }
  type Status { phase: String podIP: String startTime: String }
`;

const cluster = { name: 'bench' };
const query = podStream(fifteenLeaves);

/** graphql-ws with its own adapter for `ws` and an async iterator per subscriber. */
export async function graphqlWs(): Promise<Publisher> {
  const feed = new Feed();
  const schema = createSchema({ typeDefs, resolvers: { Subscription: { pods: { subscribe: () => feed.iterate() } } } });
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/graphql', perMessageDeflate: false });
  useServer({ schema }, server);
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('expected a port');
  return { port: address.port, protocol: 'websocket', query, publish: (changes, stamp) => feed.publish(messagesOf(changes, stamp)) };
}

/** The server-sent events of GraphQL Yoga over its own pub-sub. */
export async function yogaEvents(): Promise<Publisher> {
  const pubSub = createPubSub<{ pods: [object] }>();
  const subscribe = async function* () {
    const changes = pubSub.subscribe('pods');
    yield { pods: syncedMessage };
    yield* changes;
  };
  const schema = createSchema({ typeDefs, resolvers: { Subscription: { pods: { subscribe } } } });
  const server = createServer(createYoga({ schema, logging: false, graphiql: false, landingPage: false }));
  return {
    port: await portOf(server),
    protocol: 'sse',
    query,
    publish: (changes, stamp) => {
      for (const message of messagesOf(changes, stamp)) pubSub.publish('pods', message);
    },
  };
}

const syncedMessage = { type: 'SYNCED', cursor: '', cluster, fault: null, added: [], modified: [], deleted: [] };

let revision = 0;

function messagesOf(changes: number, stamp = ''): readonly object[] {
  return Array.from({ length: changes }, (_, index) => {
    revision += 1;
    const pod = podOf(index, { revision, version: String(revision) }) as { metadata: { name: string; labels: object } };
    const metadata = { ...pod.metadata, labels: { ...pod.metadata.labels, bench: stamp } };
    const id = Buffer.from(`bench/Pod/${pod.metadata.name}`).toString('base64url');
    // The cursor is as long as a real one for one cluster.
    const message = { ...syncedMessage, type: 'LIVE', cursor: 'c'.repeat(120), modified: [{ ...pod, id, kind: 'Pod', cluster, metadata }] };
    return { pods: message };
  });
}

/** Queues every message for each subscriber, in order, until the subscriber takes it. */
class Feed {
  readonly #queues = new Set<(message: object) => void>();

  publish(messages: readonly object[]): void {
    for (const message of messages) for (const queue of this.#queues) queue(message);
  }

  async *iterate(): AsyncGenerator<object> {
    const waiting: object[] = [];
    let wake: () => void = () => undefined;
    const queue = (message: object) => {
      waiting.push(message);
      wake();
    };
    yield { pods: syncedMessage };
    this.#queues.add(queue);
    try {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      this.#queues.delete(queue);
    }
  }
}
