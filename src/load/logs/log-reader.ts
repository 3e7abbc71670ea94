import { isUnchecked } from '../../access/access.ts';
import { apiForCaller, type CallerOperation } from '../../access/caller-api.ts';
import { MusterError } from '../../core/errors.ts';
import { loggableError } from '../../core/loggable-error.ts';
import type { ClusterName } from '../../core/names.ts';
import type { StreamListener, StreamReader } from '../../streams/stream-source.ts';
import type { MirrorsChange } from '../../watch/mirrors.ts';
import { MirrorLoader } from '../reads/mirror-loader.ts';
import type { ClusterView } from '../reads/reads.ts';
import type { FollowArguments, FollowLogsOptions } from './follow-arguments.ts';
import { FollowQueue } from './follow-queue.ts';
import { FollowedCluster, followRightsIn } from './followed-cluster.ts';
import { LogOutbox } from './log-outbox.ts';
import type { LogBatchView } from './logs.ts';
import { maxContainers } from './read-logs.ts';

interface LogReaderOptions {
  readonly options: FollowLogsOptions;
  readonly operation: CallerOperation;
  readonly followed: FollowArguments;
  readonly listener: StreamListener;
}

/** Milliseconds between two checks of rights. A cached decision may be 30 s old, and a lost right must end a stream within 60 s. */
const recheckMs = 25_000;

/**
 * Opens a reader of followed logs. Until it is disposed of or the signal aborts, it holds the mirrors of Pods and at most 20 requests.
 *
 * @throws {MusterError} `FORBIDDEN` if the caller may not read logs in any cluster.
 */
export async function openLogReader(settings: LogReaderOptions, signal: AbortSignal): Promise<StreamReader<LogBatchView>> {
  signal.throwIfAborted();
  const reader = new LogReader(settings, signal);
  try {
    await reader.begin();
    signal.throwIfAborted();
    return reader;
  } catch (error) {
    reader[Symbol.dispose]();
    throw error;
  }
}

class LogReader implements StreamReader<LogBatchView> {
  readonly #settings: LogReaderOptions;
  readonly #outer: AbortSignal;
  readonly #life = new AbortController();
  readonly #dispose = () => this[Symbol.dispose]();
  readonly #clusters = new Map<ClusterName, FollowedCluster>();
  /** Clusters that did not answer the last regular check of rights. */
  readonly #unchecked = new Set<ClusterName>();
  readonly #queue = new FollowQueue(maxContainers);
  readonly #outbox: LogOutbox;
  readonly #loader: MirrorLoader;
  #reason: MusterError | undefined;

  constructor(settings: LogReaderOptions, outer: AbortSignal) {
    this.#settings = settings;
    this.#outer = outer;
    const { clock, budget } = settings.options;
    this.#loader = new MirrorLoader(settings.options);
    const end = (reason: MusterError) => this.#end(reason);
    this.#outbox = new LogOutbox({ clock, budget, listener: settings.listener, end, onThrow: (error) => this.#threw(error) });
    outer.addEventListener('abort', this.#dispose, { once: true });
  }

  async begin(): Promise<void> {
    let isAny = false;
    // Repeats, because clusters may have joined while rights were requested.
    for (let left = this.#missing(); left.length > 0 && !this.#life.signal.aborted; left = this.#missing()) {
      const allowed = await Promise.all(left.map((cluster) => this.#follow(cluster)));
      isAny ||= allowed.includes(true);
    }
    if (this.#life.signal.aborted) return;
    if (this.#clusters.size > 0 && !isAny) throw new MusterError('FORBIDDEN', 'logs of Pods may not be read in any of these clusters');
    for (const cluster of this.#clusters.values()) cluster.join();
    this.#settings.options.mirrors.onChange((change) => this.#changed(change), this.#life.signal);
    void this.#recheck();
  }

  get hasMore(): boolean {
    return this.#outbox.hasMore;
  }

  take(): LogBatchView | undefined {
    const queued = this.#outbox.take();
    if (queued === undefined) return undefined;
    const { target, type, dropped } = queued;
    const cluster = this.#settings.options.views.find(this.#settings.operation.caller, target.cluster.name) ?? target.cluster;
    const lines = queued.type === 'LINES' ? queued.lines : [];
    return { ...target, type, cluster, lines, dropped, ...(queued.type === 'FAILED' ? { fault: queued.fault } : {}) };
  }

  pause(): void {
    this.#outbox.pause();
  }

  [Symbol.dispose](): void {
    this.#reason = undefined;
    this.#cease();
  }

  /** Returns the requested clusters that are not followed yet. */
  #missing(): readonly ClusterView[] {
    const { options, operation, followed } = this.#settings;
    const names = followed.selection.clusters;
    const wanted = options.views.visible(operation.caller).filter(({ name }) => names === undefined || names.some((one) => one === name));
    return wanted.filter(({ name }) => !this.#clusters.has(name));
  }

  /**
   * Adds a cluster. `join` then starts to follow its logs. Returns false if the caller may follow no log there, if the cluster was added
   * meanwhile, or if the stream has ended.
   */
  async #follow(cluster: ClusterView): Promise<boolean> {
    const { options, operation, followed } = this.#settings;
    const { access, mirrors, member, clock, follows } = options;
    const { kind, selection } = followed;
    const { namespaces } = selection;
    const rights = await followRightsIn(access, { caller: operation.caller, cluster, namespaces }, this.#life.signal);
    if (rights.visibility.type !== 'none') await this.#loader.load({ cluster, kind, namespaces });
    if (this.#life.signal.aborted || this.#clusters.has(cluster.name)) return false;
    const onThrow = (error: unknown) => this.#fail(error);
    const host = {
      clock,
      follows: follows.ofCaller(operation.caller),
      queue: this.#queue,
      outbox: this.#outbox,
      maxFollowed: maxContainers,
    };
    const shared = { ...host, mirrors, loader: this.#loader, kind, onThrow };
    const api = () => {
      const found = member(cluster.name);
      return found && apiForCaller(found, operation);
    };
    this.#clusters.set(cluster.name, new FollowedCluster({ ...shared, cluster, followed, api, rights }));
    return rights.visibility.type !== 'none' && !rights.right.isNone;
  }

  #changed(change: MirrorsChange): void {
    const { options, operation, followed } = this.#settings;
    const known = this.#clusters.get(change.cluster);
    known?.changed(change);
    if (known !== undefined) return;
    const { clusters = [change.cluster] } = followed.selection;
    if (change.type !== 'joined' || !clusters.some((name) => name === change.cluster)) return;
    const cluster = options.views.find(operation.caller, change.cluster);
    if (cluster === undefined) return;
    void this.#add(cluster);
  }

  /** Follows the logs of a cluster that joined, or that has become visible to the caller. */
  async #add(cluster: ClusterView): Promise<void> {
    try {
      await this.#follow(cluster);
      this.#clusters.get(cluster.name)?.join();
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Checks the rights every 25 s, and after rights in any cluster may have changed. Ends the stream if a right is lost. Also
   * follows the logs of clusters that have become visible to the caller since the last check.
   */
  async #recheck(): Promise<void> {
    const { access, clock } = this.#settings.options;
    const { signal } = this.#life;
    let changed = new AbortController();
    access.onChange(() => changed.abort(), signal);
    while (!signal.aborted) {
      await clock.sleep(recheckMs, AbortSignal.any([signal, changed.signal]));
      const isRegular = !changed.signal.aborted;
      changed = new AbortController();
      await access.prepare(this.#settings.operation.caller, signal);
      for (const [name, followed] of this.#clusters) {
        const isLost = await this.#isLost(name, followed, isRegular);
        if (signal.aborted) return;
        if (isLost) return this.#end(new MusterError('FORBIDDEN', `logs in ${name} may no longer be read`));
      }
      await Promise.all(this.#missing().map((cluster) => this.#add(cluster)));
    }
  }

  /**
   * True if the caller may no longer read the followed logs, or if a cluster did not answer two regular checks. If false, the logs of the cluster are
   * followed with the current rights of the caller from then on.
   */
  async #isLost(name: ClusterName, followed: FollowedCluster, isRegular: boolean): Promise<boolean> {
    const { options, operation, followed: request } = this.#settings;
    const { caller } = operation;
    const { namespaces } = request.selection;
    const cluster = options.views.find(caller, name);
    // A cluster that has left is no lost right. A cluster that has become hidden is one.
    if (cluster === undefined) return options.views.member(name) !== undefined;
    const rights = await followRightsIn(options.access, { caller, cluster, namespaces }, this.#life.signal);
    if (!isUnchecked(rights.visibility) && !rights.right.isUnchecked) this.#unchecked.delete(name);
    else if (!this.#unchecked.has(name)) {
      if (isRegular) this.#unchecked.add(name);
      return false;
    }
    return !this.#life.signal.aborted && !followed.reconsider(rights);
  }

  #end(reason: MusterError): void {
    if (this.#life.signal.aborted) return;
    this.#cease();
    this.#reason = reason;
    setImmediate(() => {
      // The reader was disposed of in the meantime.
      if (this.#reason === undefined) return;
      try {
        this.#settings.listener.ended(reason);
      } catch (error) {
        this.#threw(error);
      }
    });
  }

  /** Ends the stream with an error that was thrown while a cluster was added. */
  #fail(error: unknown): void {
    if (this.#life.signal.aborted) return;
    this.#settings.options.log.error({ err: loggableError(error) }, 'a stream of logs failed and was ended');
    this.#end(new MusterError('UNAVAILABLE', 'the stream of logs has failed: open it again'));
  }

  /** Ends only the stream whose listener has thrown. */
  #threw(error: unknown): void {
    this.#settings.options.log.error({ err: loggableError(error) }, 'a listener of logs threw: its stream was ended');
    this[Symbol.dispose]();
  }

  #cease(): void {
    this.#life.abort();
    this.#outer.removeEventListener('abort', this.#dispose);
    for (const cluster of this.#clusters.values()) cluster[Symbol.dispose]();
    this.#clusters.clear();
    this.#loader[Symbol.dispose]();
    this.#outbox[Symbol.dispose]();
  }
}
