import type { Access } from './access/access.ts';
import type { StartProgress } from './cli/output/start-view.ts';
import type { Clock } from './core/clock.ts';
import type { LiveSchema } from './graph/live-schema.ts';
import type { Catalog } from './load/catalog/catalog.ts';
import type { GatewayHealth } from './serve/monitoring/health.ts';
import type { ClusterProgress, MirrorRegistry } from './watch/clusters/registry.ts';

/** Milliseconds between checks of readiness during the start. */
const readyPollMs = 200;

/**
 * After a check, the next one waits for this many times the duration of the check. A check reads every cluster, and each mirror that changes
 * causes one: with 100 clusters, the start took 5.3 s of CPU without this wait, and takes 2.5 s.
 */
const restFactor = 4;

interface StartOptions {
  readonly mirrors: MirrorRegistry;
  readonly schema: Pick<LiveSchema, 'onSwap'>;
  readonly health: GatewayHealth;
  readonly clock: Clock;
  readonly onProgress?: ((progress: StartProgress) => void) | undefined;
}

/** Resolves when all clusters are ready, or when the signal aborts. Until then, reports their progress to `onProgress`. */
export async function untilReady({ mirrors, schema, health, clock, onProgress }: StartOptions, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const either = AbortSignal.any([signal, done.signal]);
  let changed = Promise.withResolvers<void>();
  mirrors.onChange(() => changed.resolve(), either);
  schema.onSwap(() => changed.resolve(), either);
  for (let ready = false; !ready && !signal.aborted; ) {
    const sinceMs = clock.monotonic();
    ready = health.isReady();
    for (const progress of mirrors.progress()) onProgress?.(startStepOf(progress));
    if (ready) break;
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
  readonly mirrors: MirrorRegistry;
  readonly models: Pick<Catalog, 'settle'>;
  readonly schema: Pick<LiveSchema, 'isBuilding'>;
  readonly access: Pick<Access, 'prepare' | 'maySeeCluster'>;
}

/**
 * Reports readiness: all clusters are ready, and the schema has their custom kinds. Once ready it stays ready, even if a cluster joins or
 * fails.
 *
 * @param signal Ends the wait for the rights of a caller.
 */
export function gatewayHealthOf({ mirrors, models, schema, access }: ReadinessParts, signal: AbortSignal): GatewayHealth {
  let settled = false;
  let ready = false;
  return {
    isReady: () => {
      if (ready || !mirrors.ready()) return ready;
      if (!settled) models.settle();
      settled = true;
      ready = !schema.isBuilding();
      return ready;
    },
    async checks(caller) {
      await access.prepare(caller, signal);
      const visible = mirrors.progress().filter(({ cluster }) => access.maySeeCluster(caller, cluster));
      return visible.map(({ cluster, phase, ready: isGood, objects, fault }) => {
        // The number counts objects of all callers.
        const size = caller.user === undefined ? `, ${objects} objects` : '';
        return { name: `cluster/${cluster}`, isGood, detail: `${phase}${size}${fault === undefined ? '' : `, ${fault.code}`}` };
      });
    },
  };
}
