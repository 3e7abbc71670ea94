import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type LiveSocket, type LiveStream, openStream, type Transport, type Variables } from '../clients/live-socket.ts';
import { type ChangeMessage, HeldObjects } from './held-objects.ts';
import type { TestGateway } from './start-gateway.ts';

/** The subscription of a reader of pods. */
export const podChanges = `subscription ($after: String, $labels: String) {
  pods(after: $after, labels: $labels) {
    type cluster { name } cursor fault { code } added { ...State } modified { ...State } deleted { ...State }
  }
}
fragment State on Pod { id metadata { namespace name uid resourceVersion labels annotations } }`;

/** Returns the messages of one field, without the stream's last error. */
export function changesIn({ seen }: Pick<LiveStream, 'seen'>, field = 'pods'): readonly ChangeMessage[] {
  const changes = seen.map(({ data }) => data?.[field] as ChangeMessage | undefined);
  return changes.filter((change) => change !== undefined && change !== null);
}

export interface PodReaderOptions {
  /** The transport of a new connection, or an open socket. */
  readonly over?: Transport | LiveSocket;
  readonly variables?: Variables;
  /** The objects that the reader already has. `variables` has the cursor. */
  readonly held?: HeldObjects;
  /** Selects the pods that match the `labels` in the variables. Default: all. */
  readonly chooses?: (pod: KubernetesObject) => boolean;
}

interface ResumeOptions {
  readonly count?: number;
  readonly over?: Transport | LiveSocket;
}

/** A client that follows the pods of a stream. */
export class PodReader {
  readonly stream: LiveStream;
  readonly #options: PodReaderOptions;
  readonly #held: HeldObjects;
  #taken = 0;

  /** Opens the stream. Its first messages may arrive later. */
  static async open(gateway: TestGateway, options: PodReaderOptions = {}): Promise<PodReader> {
    const { over = 'websocket', variables = {} } = options;
    const stream =
      typeof over === 'string' ? await openStream(over, gateway.url, { query: podChanges, variables }) : over.start(podChanges, variables);
    return new PodReader(stream, options);
  }

  private constructor(stream: LiveStream, options: PodReaderOptions) {
    this.stream = stream;
    this.#options = options;
    this.#held = this.heldAfter(0);
  }

  /** Opens another stream that resumes after the first `count` messages of this one. Default: after all messages. */
  resumed(gateway: TestGateway, { count = this.messages.length, over = 'websocket' }: ResumeOptions = {}): Promise<PodReader> {
    const held = this.heldAfter(count);
    const variables = { ...this.#options.variables, ...(held.cursor === undefined ? {} : { after: held.cursor }) };
    return PodReader.open(gateway, { ...this.#options, over, held, variables });
  }

  /** Returns the objects after the first `count` messages. */
  heldAfter(count: number): HeldObjects {
    const held = this.#options.held?.resumed() ?? new HeldObjects();
    for (const message of this.messages.slice(0, count)) held.take(message);
    return held;
  }

  /** The messages so far. */
  get messages(): readonly ChangeMessage[] {
    return changesIn(this.stream);
  }

  /**
   * Returns the objects after all messages so far.
   *
   * @throws {Error} if a message is not allowed.
   */
  held(): HeldObjects {
    const { seen } = this.stream;
    for (const message of changesIn({ seen: seen.slice(this.#taken) })) this.#held.take(message);
    this.#taken = seen.length;
    return this.#held;
  }

  /** True if the reader has the pods of these clusters, and knows that they are complete. */
  holds(gateway: TestGateway, clusters: readonly string[]): boolean {
    const held = this.held();
    const isWhole = clusters.every((name) => held.synced().includes(name)) && held.behind().length === 0;
    return isWhole && held.identities().join('\n') === this.#chosenIn(gateway, clusters).join('\n');
  }

  #chosenIn(gateway: TestGateway, clusters: readonly string[]): readonly string[] {
    const { chooses = () => true } = this.#options;
    const identityIn = (cluster: string, { metadata }: KubernetesObject) =>
      `${cluster}/${metadata.namespace}/${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
    const chosen = clusters.flatMap((name) =>
      gateway
        .cluster(name)
        .objects('Pod')
        .filter(chooses)
        .map((object) => identityIn(name, object)),
    );
    return chosen.toSorted();
  }
}

/**
 * Waits, in the time of the gateway, until each reader has the pods of these clusters.
 *
 * @throws {Error} if one of them takes longer than `withinMs`.
 */
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
