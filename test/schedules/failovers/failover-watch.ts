import type { SimWrite } from '../../support/sim/sim-cluster.ts';
import { type FailingFleet, failoverClusters } from './failing-fleet.ts';

/** Milliseconds of the clock between two samples. */
export const sampleMs = 500;

/**
 * Milliseconds after which the gateway must know of a loss. A copy that was healthy a moment ago may still count. `frozen`: the connections
 * stay open, so only missing answers show it.
 */
const knownAfterMs = { cut: 5_000, frozen: 60_000 } as const;

interface Absence {
  readonly how: keyof typeof knownAfterMs;
  readonly sinceMs: number;
}

interface WatchOptions {
  readonly fleet: FailingFleet;
  /** The replicas of the Propagation. */
  readonly replicas: number;
  readonly purge: string;
  /** The clusters that do not answer now. */
  readonly away: ReadonlyMap<string, Absence>;
  /** The clusters whose Pods crash now. */
  readonly sick: ReadonlySet<string>;
}

/**
 * Checks each write of the gateway to a copy at the moment of the write:
 *
 * - It gives up healthy replicas only if as many are healthy elsewhere. Replicas that crash in a third cluster hold no move: then all clusters
 *   that took over, or all other clusters, must have all their replicas. With `purge` Directly, an evicted cluster is excepted.
 * - With `purge` Never, it deletes no copy in an evicted cluster.
 * - It changes no object of another client.
 */
export class FailoverWatch {
  readonly #options: WatchOptions;
  /** The available replicas of copies in the last `knownAfterMs.cut`, for each cluster. The newest is last. */
  readonly #samples = new Map<string, number[]>();
  readonly #violations: string[] = [];
  /** The copies that `purge` Never has released. They are no copies any more until Muster adopts them. */
  readonly #released = new Set<string>();
  /** The smallest number of available replicas in all clusters so far, also in those that are away. Objects of other clients do not count. */
  leastAvailable = Number.POSITIVE_INFINITY;

  constructor(options: WatchOptions) {
    this.#options = options;
    for (const name of failoverClusters) {
      options.fleet.cluster(name).onWrite((write) => {
        const violation = this.#violationOf(name, write);
        if (violation !== undefined) this.#violations.push(`at ${Math.round(options.fleet.nowMs())} ${name}: ${violation}`);
        return undefined;
      });
    }
  }

  /** One sentence per violation. */
  violations(): readonly string[] {
    return this.#violations;
  }

  /** Records the available replicas of this moment. */
  sample(): void {
    const counts = failoverClusters.map((name) => {
      const copy = this.#options.fleet.copyIn(name);
      return { name, count: copy === undefined || copy.owner === 'stranger' ? 0 : copy.available };
    });
    const most = knownAfterMs.cut / sampleMs;
    for (const { name, count } of counts) this.#samples.set(name, [...(this.#samples.get(name) ?? []), count].slice(-most));
    this.leastAvailable = Math.min(
      this.leastAvailable,
      counts.reduce((sum, { count }) => sum + count, 0),
    );
  }

  #violationOf(cluster: string, { kind, name, manager, isDry, result, object }: SimWrite): string | undefined {
    if (kind !== 'Deployment' || name !== 'web' || manager !== 'muster' || isDry || result === 'unchanged') return undefined;
    const { fleet, purge } = this.#options;
    const copy = fleet.copyOf(cluster, object);
    if (copy.owner === 'stranger') return `an object of another client was ${result}`;
    const wasReleased = this.#released.delete(copy.uid);
    if (copy.owner === 'left') this.#released.add(copy.uid);
    const isGone = result === 'deleted' || result === 'marked';
    const isEvicted = fleet.evictions().some((one) => one.cluster === cluster && one.to !== undefined && one.cause !== 'Return');
    if (isEvicted && isGone && purge === 'NEVER') return `purge Never deleted a copy (${result})`;
    if (isEvicted && purge === 'DIRECTLY') return undefined;
    return wasReleased ? undefined : this.#lossOf(cluster, { result, available: copy.available, kept: isGone ? 0 : copy.wanted });
  }

  /** Returns why the write gave up healthy replicas too early. Undefined if it was allowed. */
  #lossOf(
    cluster: string,
    { result, available, kept }: { readonly result: string; readonly available: number; readonly kept: number },
  ): string | undefined {
    const after = Math.min(available, kept);
    const lost = available - after;
    if (lost === 0) return undefined;
    const elsewhere = failoverClusters.filter((other) => other !== cluster).map((other) => this.#availableIn(other));
    const left = after + elsewhere.reduce((sum, count) => sum + count, 0);
    if (left >= Math.min(this.#options.replicas, left + lost)) return undefined;
    if (this.#areReplacementsHealthy(cluster) || this.#areOthersWhole(cluster, kept)) return undefined;
    const away = [...this.#options.away].map(([one, { how, sinceMs }]) => `${one} ${how} since ${Math.round(sinceMs)}`);
    return `lost ${lost} of ${available} healthy replicas (${result}); elsewhere ${elsewhere}; away: ${away}`;
  }

  /** True if other clusters took over the share of this cluster, and have all their replicas. */
  #areReplacementsHealthy(cluster: string): boolean {
    const to = this.#options.fleet.evictions().find((eviction) => eviction.cluster === cluster)?.to ?? [];
    return to.length > 0 && to.every((name) => this.#wantedIn(name) > 0 && this.#availableIn(name) >= this.#wantedIn(name));
  }

  /** True if the copies want all replicas after the write, and only those in sick clusters are not healthy. */
  #areOthersWhole(cluster: string, kept: number): boolean {
    const { replicas, sick } = this.#options;
    const others = failoverClusters.filter((name) => name !== cluster);
    const wanted = others.reduce((sum, name) => sum + this.#wantedIn(name), kept);
    return wanted >= replicas && others.every((name) => sick.has(name) || this.#availableIn(name) >= this.#wantedIn(name));
  }

  #wantedIn(name: string): number {
    const copy = this.#options.fleet.copyIn(name);
    return copy?.owner === 'muster' ? copy.wanted : 0;
  }

  #availableIn(name: string): number {
    const { fleet, away } = this.#options;
    const absence = away.get(name);
    if (absence !== undefined && fleet.nowMs() - absence.sinceMs > knownAfterMs[absence.how]) return 0;
    const copy = fleet.copyIn(name);
    return Math.max(copy?.owner === 'muster' ? copy.available : 0, ...(this.#samples.get(name) ?? []));
  }
}
