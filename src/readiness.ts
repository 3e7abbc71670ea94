import type { Access } from './access/access.ts';
import type { StartProgress } from './cli/output/start-view.ts';
import type { Clock } from './core/clock.ts';
import type { ClusterName } from './core/names.ts';
import type { LiveSchema } from './graph/live-schema.ts';
import type { FoundClusters } from './inventories/found-clusters.ts';
import type { Catalog } from './load/catalog/catalog.ts';
import type { GatewayHealth, HealthCheck } from './serve/monitoring/health.ts';
import type { ClusterProgress, MirrorRegistry } from './watch/clusters/registry.ts';

/** Milliseconds between checks of readiness during the start. */
const readyPollMs = 200;

/**
 * After a check, the next one waits for this many times the duration of the check. Each change of a mirror causes a check, and a check reads
 * every cluster. With 100 clusters, the start took 5.3 s of CPU without this wait, and takes 2.5 s.
 */
const restFactor = 4;

interface StartOptions {
  readonly mirrors: MirrorRegistry;
  readonly schema: Pick<LiveSchema, 'onSwap'>;
  readonly readiness: Pick<Readiness, 'hasStarted'>;
  readonly clock: Clock;
  readonly onProgress?: ((progress: StartProgress) => void) | undefined;
}

/** Resolves when the gateway has started, or when the signal aborts. Until then, reports the progress of the clusters to `onProgress`. */
export async function untilStarted({ mirrors, schema, readiness, clock, onProgress }: StartOptions, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  let changed = Promise.withResolvers<void>();
  mirrors.onChange(() => changed.resolve(), either);
  schema.onSwap(() => changed.resolve(), either);
  for (let started = false; !started && !signal.aborted; ) {
    const sinceMs = clock.monotonic();
    started = readiness.hasStarted();
    for (const progress of mirrors.progress()) onProgress?.(startStepOf(progress));
    if (started) break;
    const restMs = restFactor * (clock.monotonic() - sinceMs);
    if (restMs >= 1) await clock.sleep(restMs, either);
    // A cluster counts as ready after 60 s even if nothing has changed, so the time is checked too.
    await Promise.race([changed.promise, clock.sleep(readyPollMs, either)]);
    changed = Promise.withResolvers<void>();
  }
  done.abort();
}

function startStepOf({ cluster, phase, version, ready, objects, fault }: ClusterProgress): StartProgress {
  if (fault !== undefined && (version === undefined || phase === 'UNREACHABLE'))
    return { cluster, step: 'failed', code: fault.code, message: fault.message };
  if (version === undefined) return { cluster, step: 'connecting' };
  return { cluster, step: ready ? 'synced' : 'listing', version, objects, ...(fault === undefined ? {} : { fault }) };
}

interface ReadinessParts {
  readonly mirrors: Pick<MirrorRegistry, 'progress' | 'ready'>;
  readonly found: Pick<FoundClusters, 'unread'>;
  readonly hub: ClusterName | undefined;
  readonly models: Pick<Catalog, 'settle'>;
  readonly schema: Pick<LiveSchema, 'isBuilding'>;
  readonly access: Pick<Access, 'prepare' | 'maySeeCluster'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export interface Readiness extends GatewayHealth {
  /**
   * True once each cluster and each inventory has been read, has a fault, or has had 60 s, and the schema has the custom kinds of the clusters.
   * Stays true, even if a cluster joins or fails. Commands with a gateway of their own begin then: they do not wait for `isReady`.
   */
  hasStarted(): boolean;
}

/** Milliseconds after which the start no longer waits for inventories. `isReady` still waits for those of the hub. */
const maxInventoryMs = 60_000;

/**
 * Reports readiness: the gateway has started, and has read the hub with the clusters that are registered there once. Before that, its answers
 * would lack these clusters, so a new Pod must not replace a Pod that knows them. Once ready, the gateway stays ready.
 *
 * @param signal Ends the wait for the rights of a caller.
 */
export function readinessOf({ mirrors, found, hub, models, schema, access, clock }: ReadinessParts, signal: AbortSignal): Readiness {
  const beganMs = clock.monotonic();
  let settled = false;
  let started = false;
  let ready = false;

  function areClustersRead(): boolean {
    if (!mirrors.ready()) return false;
    if (clock.monotonic() - beganMs >= maxInventoryMs) return true;
    const unread = found.unread();
    return !mirrors.progress().some(({ cluster, fault }) => fault === undefined && unread.has(cluster));
  }

  function hubCheck(): HealthCheck | undefined {
    if (hub === undefined) return undefined;
    const member = mirrors.progress().find(({ cluster }) => cluster === hub);
    const hasAnswered = member?.phase === 'SYNCED' || member?.phase === 'DEGRADED';
    const isGood = ready || (hasAnswered && member.listing === 0 && !found.unread().has(hub));
    const problem = hasAnswered ? `${member.phase}, but not read completely yet` : (member?.phase ?? 'not in the fleet');
    return { name: `hub/${hub}`, isGood, detail: isGood ? 'its registered clusters are known' : problem };
  }

  function hasStarted(): boolean {
    if (started || !areClustersRead()) return started;
    if (!settled) models.settle();
    settled = true;
    started = !schema.isBuilding();
    return started;
  }

  return {
    hasStarted,
    isReady: () => {
      ready ||= hasStarted() && hubCheck()?.isGood !== false;
      return ready;
    },
    async checks(caller) {
      await access.prepare(caller, signal);
      const maySee = (cluster: ClusterName) => access.maySeeCluster(caller, cluster);
      const clusters = mirrors.progress().filter(({ cluster }) => maySee(cluster));
      const ofClusters = clusters.map(({ cluster, phase, ready: isGood, objects, fault }) => {
        // The number counts objects of all callers.
        const size = caller.user === undefined ? `, ${objects} objects` : '';
        return { name: `cluster/${cluster}`, isGood, detail: `${phase}${size}${fault === undefined ? '' : `, ${fault.code}`}` };
      });
      const ofHub = hub !== undefined && maySee(hub) ? hubCheck() : undefined;
      return ofHub === undefined ? ofClusters : [ofHub, ...ofClusters];
    },
  };
}
