import { followSubscriptionField } from '../client/follow-subscription.ts';
import type { Session } from '../client/session.ts';
import { matchInTime } from './expressions.ts';
import { type AnsweredLogPod, type LogPod, type LogPodSource, logBatchesOf, logPodFields, logPodOf } from './log-sources.ts';
import type { LogArguments } from './missing-logs.ts';

/** Options of `followPods`. */
export interface FollowPodsOptions {
  readonly sources: readonly LogPodSource[];
  /** The largest number of containers to follow at the same time. */
  readonly maxContainers: number;
  /** Follows the logs of a selection until the signal aborts. */
  readonly follow: (selection: LogArguments, signal: AbortSignal) => Promise<unknown>;
}

/** Milliseconds for which new Pods are collected, so that Pods that appear together share a stream. */
const gatherMs = 200;

/** A stream of logs of some Pods. */
interface PodBatch {
  readonly stopping: AbortController;
  readonly pods: Set<string>;
}

const query = `subscription ($clusters: [String!], $namespaces: [String!], $labels: String, $where: Where, $after: String) {
  resources(kinds: ["Pod.core"], clusters: $clusters, namespaces: $namespaces, labels: $labels, where: $where, after: $after) {
    type cursor added { ${logPodFields} } modified { ${logPodFields} } deleted { id }
  }
}`;

interface Message {
  readonly type: string;
  readonly cursor: string;
  readonly added: readonly AnsweredLogPod[];
  readonly modified: readonly AnsweredLogPod[];
  readonly deleted: readonly { readonly id: string }[];
}

/**
 * Follows the logs of all Pods of the sources, and of Pods that appear later, until the signal aborts. Each stream has at most 20 containers, and
 * ends when all of its Pods are deleted. Pods that would exceed `maxContainers` are reported once, and not followed.
 */
export async function followPods(session: Session, options: FollowPodsOptions): Promise<void> {
  const followed = new FollowedPods(session, options);
  await Promise.race([Promise.all(options.sources.map((source) => followed.watch(source))), followed.failure]);
}

class FollowedPods {
  readonly #session: Session;
  readonly #options: FollowPodsOptions;
  readonly #batches = new Map<string, PodBatch>();
  readonly #containers = new Map<string, number>();
  readonly #failure = Promise.withResolvers<never>();
  #waiting: { readonly pod: LogPod; readonly container: string | null }[] = [];

  constructor(session: Session, options: FollowPodsOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Rejects if a stream of logs has ended with an error. */
  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  async watch(source: LogPodSource): Promise<void> {
    const { clusters, namespaces, labels, names } = source.selection;
    const where = names === null ? null : { path: 'metadata.name', in: names };
    let cursor: string | null = null;
    const variables = (how: 'first' | 'resumed' | 'anew') => ({
      clusters,
      namespaces,
      labels,
      where,
      after: how === 'anew' ? null : cursor,
    });
    for await (const event of followSubscriptionField<Message>(this.#session, { query, field: 'resources', variables })) {
      if (event.type !== 'message') continue;
      cursor = event.message.cursor;
      for (const { id } of event.message.deleted) this.#remove(id);
      const changed = [...event.message.added, ...event.message.modified];
      for (const pod of matchInTime(() => changed.map((item) => logPodOf(item, source)))) this.#add(pod, source);
    }
  }

  #add(pod: LogPod | undefined, { selection }: LogPodSource): void {
    if (pod === undefined || this.#containers.has(pod.id)) return;
    const { terminal, clock, signal } = this.#session;
    const count = [...this.#containers.values()].reduce((sum, some) => sum + some, 0);
    const isFull = count + pod.containers > this.#options.maxContainers;
    this.#containers.set(pod.id, isFull ? 0 : pod.containers);
    if (isFull) {
      terminal.err(
        `warning: ${pod.cluster}/${pod.namespace}/${pod.name}: not followed, as --max-log-requests is ${this.#options.maxContainers}\n`,
      );
      return;
    }
    this.#waiting.push({ pod, container: selection.container });
    if (this.#waiting.length === 1) void clock.sleep(gatherMs, signal).then(() => this.#start());
  }

  #start(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [container, some] of Map.groupBy(waiting, (one) => one.container)) {
      const pods = some.map(({ pod }) => pod);
      for (const selection of logBatchesOf(pods, container)) {
        const ids = pods.filter((pod) => isIn(pod, selection)).map(({ id }) => id);
        const batch = { stopping: new AbortController(), pods: new Set(ids) };
        for (const id of ids) this.#batches.set(id, batch);
        const either = AbortSignal.any([this.#session.signal, batch.stopping.signal]);
        this.#options.follow(selection, either).catch(this.#failure.reject);
      }
    }
  }

  #remove(id: string): void {
    this.#containers.delete(id);
    const batch = this.#batches.get(id);
    this.#batches.delete(id);
    batch?.pods.delete(id);
    if (batch?.pods.size === 0) batch.stopping.abort();
  }
}

function isIn({ cluster, namespace, name }: LogPod, { clusters, namespaces, names }: LogArguments): boolean {
  return clusters?.[0] === cluster && namespaces?.[0] === namespace && names?.includes(name) === true;
}
