import { podsInClusters } from './equal-mirror.ts';
import { type ChangeMessage, HeldObjects } from './held-objects.ts';
import { type LiveSocket, type LiveStream, openStream, type Transport, type Variables } from './live-socket.ts';
import type { TestGateway } from './start-gateway.ts';

/** What a reader of pods asks. */
export const podChanges = `subscription ($after: String, $labels: String) {
  pods(after: $after, labels: $labels) {
    type cluster { name } cursor fault { code } added { ...State } modified { ...State } deleted { ...State }
  }
}
fragment State on Pod { id metadata { namespace name uid resourceVersion labels } }`;

/** What a stream told of a field, without its last error. */
export function changesIn({ seen }: Pick<LiveStream, 'seen'>, field = 'pods'): readonly ChangeMessage[] {
  const changes = seen.map(({ data }) => data?.[field] as ChangeMessage | undefined);
  return changes.filter((change) => change !== undefined && change !== null);
}

export interface PodReaderOptions {
  /** A connection of its own, or this socket. */
  readonly over?: Transport | LiveSocket;
  readonly variables?: Variables;
  /** What it holds already: `variables` have the cursor. */
  readonly held?: HeldObjects;
}

/** A client that holds the pods it is told of. */
export class PodReader {
  readonly stream: LiveStream;
  readonly #held: HeldObjects;
  #taken = 0;

  /** Opens the stream; its first messages may not be there yet. */
  static async open(gateway: TestGateway, { over = 'websocket', variables = {}, held }: PodReaderOptions = {}): Promise<PodReader> {
    const stream =
      typeof over === 'string' ? await openStream(over, gateway.url, { query: podChanges, variables }) : over.start(podChanges, variables);
    return new PodReader(stream, held?.resumed() ?? new HeldObjects());
  }

  /** Another stream that goes on where these objects were held. */
  static resume(gateway: TestGateway, held: HeldObjects, over: Transport | LiveSocket = 'websocket'): Promise<PodReader> {
    if (held.cursor === undefined) throw new Error('expected a cursor to go on from');
    return PodReader.open(gateway, { over, held, variables: { after: held.cursor } });
  }

  private constructor(stream: LiveStream, held: HeldObjects) {
    this.stream = stream;
    this.#held = held;
  }

  /** What came so far, of one kind. */
  get messages(): readonly ChangeMessage[] {
    return changesIn(this.stream);
  }

  /** What it holds by now. @throws {Error} if the stream said what it may not. */
  held(): HeldObjects {
    const { seen } = this.stream;
    for (const message of changesIn({ seen: seen.slice(this.#taken) })) this.#held.take(message);
    this.#taken = seen.length;
    return this.#held;
  }

  /** True if it holds what these clusters have, and knows that it is all. */
  holds(gateway: TestGateway, clusters: readonly string[]): boolean {
    const held = this.held();
    const isWhole = clusters.every((name) => held.synced().includes(name)) && held.behind().length === 0;
    return isWhole && held.identities().join('\n') === podsInClusters(gateway, clusters).join('\n');
  }
}

/** Waits, in the gateway's time, until each reader holds what these clusters have. @throws {Error} if one does not within `withinMs`. */
export async function untilAllHold(
  gateway: TestGateway,
  readers: readonly PodReader[],
  { clusters, withinMs = 180_000 }: { readonly clusters: readonly string[]; readonly withinMs?: number },
): Promise<void> {
  await gateway.until(() => {
    const dead = readers.find(({ stream }) => stream.completed || stream.closed !== undefined);
    if (dead !== undefined)
      throw new Error(
        `expected a stream that lives, got ${JSON.stringify([dead.stream.closed, dead.stream.refusal, dead.stream.seen.at(-1)]).slice(0, 400)}`,
      );
    return readers.every((reader) => reader.holds(gateway, clusters));
  }, withinMs);
}
