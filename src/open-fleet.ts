import type { StartProgress } from './cli/output/start-view.ts';
import { connectCluster } from './cluster/requests/connect-cluster.ts';
import { loadTypedApi } from './cluster/typed-api.ts';
import type { Config } from './config/config.ts';
import { type FoundClusterSettings, reloadInventories } from './config/load-config.ts';
import type { Clock } from './core/clock.ts';
import { MusterError } from './core/errors.ts';
import type { Log } from './core/log.ts';
import { clusterName } from './core/names.ts';
import { WorkScheduler } from './core/scheduling/work-scheduler.ts';
import { watchFiles } from './fleet/file-watch.ts';
import { createFleet, type Fleet } from './fleet/fleet.ts';
import type { DuplicateName } from './fleet/roster.ts';
import { UpstreamCounts } from './fleet/upstream-counts.ts';
import { createFoundClusters } from './inventories/found-clusters.ts';
import type { OpenedClusters } from './open-clusters.ts';
import { measureProcessHeap } from './serve/monitoring/process-heap.ts';
import type { Traces } from './traces/open-traces.ts';
import { AnomalyCounts } from './watch/clusters/anomaly-counts.ts';
import { createMemberObjects } from './watch/clusters/member-objects.ts';
import { createMirrors, type MirrorRegistry } from './watch/clusters/registry.ts';
import { reportAnswers } from './watch/server/observed-api.ts';

interface FleetOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly onProgress?: ((progress: StartProgress) => void) | undefined;
}

interface FleetParts {
  readonly clusters: OpenedClusters;
  readonly hub: string | undefined;
  /** Traces the calls of operations. Undefined: there are no traces. */
  readonly traces: Pick<Traces, 'traced'> | undefined;
  readonly stack: AsyncDisposableStack;
}

/** Opens the fleet and mirrors its clusters. Adds the fleet and the mirrors to `stack`, whose disposal ends them. */
export async function openFleet(
  { config, clock, log, onProgress }: FleetOptions,
  { clusters, hub, traces, stack }: FleetParts,
  signal: AbortSignal,
) {
  const counts = new UpstreamCounts();
  const anomalies = new AnomalyCounts();
  const scheduler = new WorkScheduler(clock);
  const heap = measureProcessHeap(signal);
  const { sensitiveKinds, environment, systemNamespace, allowPrivate, inventories } = config;
  const mirrors = stack.use(
    createMirrors({ clock, log, scheduler, heap, sensitiveKinds, onReport: (cluster, report) => anomalies.add(cluster, report) }),
  );
  // Everything about a hub needs it soon, and its import would stop requests later.
  if (hub !== undefined) await loadTypedApi();
  let opened: Fleet | undefined;
  const onSettings = ({ inventories }: FoundClusterSettings) => warnOfAbsentHolders({ ...config, inventories }, opened, log);
  const found = createFoundClusters({
    objects: createMemberObjects({ mirrors, clock, log }, signal),
    api: (name) => opened?.member(name)?.api,
    followSecrets: (cluster, namespace, onChange, until) => mirrors.followSecrets(cluster, namespace, onChange, until),
    hub: hub === undefined ? undefined : clusterName(hub),
    settings: { allowPrivate, inventories },
    changes: (until) => settingsChanges({ config, hub, clock, log, onSettings }, until),
    ...{ environment, systemNamespace, clock },
  });
  const fleet = stack.use(
    await createFleet({
      sources: [clusters.source, found],
      connect: (endpoint, life, currentEndpoint) => {
        const connected = connectCluster(endpoint, { clock, log, signal: life, currentEndpoint });
        const api = reportAnswers(counts.counted(connected, life), () => mirrors.answered(endpoint.name));
        return traces?.traced(api) ?? api;
      },
      log,
    }),
  );
  opened = fleet;
  warnOfAbsentHolders(config, fleet, log);
  mirrorAll({ mirrors, fleet, onProgress }, signal);
  fleet.onJoin((member) => member.signal.addEventListener('abort', () => anomalies.forget(member.name), { once: true }), signal);
  return { mirrors, fleet, found, heap, scheduler, counts, anomalies };
}

/**
 * Logs a warning for each inventory whose `cluster` is not in the fleet. Only with the clusters of a kubeconfig: if the config file lists them, it
 * refuses other names.
 */
function warnOfAbsentHolders(
  { inventories, clusters }: Pick<Config, 'inventories' | 'clusters'>,
  fleet: Fleet | undefined,
  log: Log,
): void {
  for (const [at, { cluster }] of inventories.entries())
    if (clusters.length === 0 && cluster !== undefined && fleet?.member(clusterName(cluster)) === undefined)
      log.warn(
        { inventory: `inventories[${at}]`, cluster },
        'the cluster of an inventory is not in the fleet: the inventory lists no cluster until it joins',
      );
}

/**
 * Yields the settings about found clusters after each change of the config file. A broken file is logged and changes nothing, and so does
 * another system namespace: the Lease of the leader and the Secrets of registered clusters can only move together, at a restart.
 */
async function* settingsChanges(
  {
    config: { configFile, systemNamespace, authentication },
    hub,
    clock,
    log,
    onSettings,
  }: Omit<FleetOptions, 'onProgress'> & {
    readonly hub: string | undefined;
    /** Called with new settings before they are yielded. */
    readonly onSettings: (settings: FoundClusterSettings) => void;
  },
  signal: AbortSignal,
): AsyncIterable<FoundClusterSettings> {
  if (configFile === undefined) return;
  for await (const _ of watchFiles([configFile], clock, signal)) {
    try {
      const { systemNamespace: wanted, ...settings } = await reloadInventories(configFile, { hub, authentication });
      if (wanted !== systemNamespace)
        log.warn({ namespace: wanted }, 'another systemNamespace needs a restart of all gateways: the former one stays in use');
      onSettings(settings);
      yield settings;
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      log.warn({ problem: error.message }, 'the config file has become unreadable: inventories stay as they were');
    }
  }
}

interface FollowedFleet {
  readonly mirrors: MirrorRegistry;
  readonly fleet: Fleet;
  readonly onProgress: FleetOptions['onProgress'];
}

/**
 * Mirrors each cluster while it is in the fleet. Passes the uid of a cluster to the fleet as soon as it is known, to find duplicates.
 * Reports each duplicate to `onProgress`.
 */
function mirrorAll({ mirrors, fleet, onProgress }: FollowedFleet, signal: AbortSignal): void {
  const report = ({ name, same }: DuplicateName) => onProgress?.({ cluster: name, step: 'duplicate', same });
  fleet.duplicates().forEach(report);
  mirrors.onChange(({ type, cluster }) => {
    const uid = type === 'changed' ? mirrors.cluster(cluster)?.uid : undefined;
    if (uid !== undefined) fleet.identified(cluster, uid).forEach(report);
  }, signal);
  fleet.onJoin((member) => {
    const engaged = {
      name: member.name,
      api: member.api,
      get namespaces() {
        return member.settings.namespaces;
      },
      get secrets() {
        return member.settings.secrets;
      },
      reads: member.settings.authorization === 'live' ? ('live' as const) : ('mirrored' as const),
    };
    mirrors.engage(engaged, member.signal);
  }, signal);
  fleet.onRedescribed(({ name }) => mirrors.redescribed(name), signal);
}
