import { loadKubeconfig } from './cluster/kubeconfig/kubeconfig.ts';
import type { Config } from './config/config.ts';
import { demandMirroredHub, reloadClusters } from './config/load-config.ts';
import type { Clock } from './core/clock.ts';
import { MusterError } from './core/errors.ts';
import type { Log } from './core/log.ts';
import { clusterName } from './core/names.ts';
import type { ClusterCandidate, ClusterSource } from './fleet/cluster-source.ts';
import { createFixedSource } from './fleet/cluster-source.ts';
import { openKubeconfigSource } from './fleet/kubeconfig-source.ts';

/** Where the members of a fleet come from. Disposing it ends the embedded fleet. */
export interface OpenedClusters extends AsyncDisposable {
  readonly source: ClusterSource;
  /** True if the clusters are embedded ones. */
  readonly demo: boolean;
  /** The name of the cluster in whose Pod the gateway runs. Undefined: it runs in no Pod, or its cluster is not in the fleet. */
  readonly ownCluster?: string | undefined;
}

export interface OpenClustersOptions {
  readonly config: Config;
  /** The action if no cluster is named and no kubeconfig is found: `demo` starts the embedded fleet, `refuse` throws `BAD_INPUT`. Default: `demo`. */
  readonly withoutClusters?: 'demo' | 'refuse';
  /** The folder of the Pod's service account. Default: the path that Kubernetes uses. */
  readonly serviceAccountFolder?: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Opens the clusters of the config file or the kubeconfig; starts the embedded fleet if `demo` is set, or if no cluster is named and none is found.
 *
 * @throws {MusterError} `BAD_INPUT` if a file, context or cluster that the config names is absent or broken, or if the cluster of the Pod would be a
 * hub with `authorization: live`.
 */
export async function openClusters(options: OpenClustersOptions): Promise<OpenedClusters> {
  const { config, withoutClusters, clock, log } = options;
  const { configFile, kubeconfig } = config;
  let ownCluster: string | undefined;
  const load = async (file: string | undefined) => {
    const found = await loadKubeconfig({ ...options, environment: config.environment, file });
    if (found?.origin === 'inCluster') ownCluster ??= ownClusterIn(config, found.currentContext);
    return found;
  };
  const hub = () => config.hub ?? ownCluster;
  const found = config.demo
    ? undefined
    : await openKubeconfigSource({
        load,
        ...(kubeconfig === undefined ? {} : { kubeconfig }),
        ...(configFile === undefined ? {} : { configFile }),
        contexts: config.contexts,
        clusters: createClustersReader(config, hub),
        secrets: config.secrets,
        clock,
        log,
      });
  demandMirroredHub(configFile, { clusters: config.clusters, hub: hub() });
  if (found !== undefined) return { source: found, demo: false, ownCluster, [Symbol.asyncDispose]: async () => undefined };
  if (!config.demo && withoutClusters === 'refuse')
    throw new MusterError(
      'BAD_INPUT',
      'no kubeconfig was found: expected --gateway or --kubeconfig, or --demo to write to the embedded fleet',
    );
  // The code of the embedded fleet is loaded only when it is needed.
  const [{ startDemoFleet }, { hubDefinitions }, { migrationDefinition }, { clusterDefinition }] = await Promise.all([
    import('./sim/start-demo-fleet.ts'),
    import('./propagate/hub/hub-definitions.ts'),
    import('./migrate/hub/migration-resource.ts'),
    import('./registration/cluster-resource.ts'),
  ]);
  const demo = await startDemoFleet({ hubDefinitions: [...hubDefinitions(), migrationDefinition(), clusterDefinition()], clock, log });
  return {
    source: createFixedSource(demo.clusters.map(demoCandidate)),
    demo: true,
    [Symbol.asyncDispose]: () => demo[Symbol.asyncDispose](),
  };
}

/**
 * Returns the name of the cluster that the service account of the Pod belongs to. `context` is its name without a config file.
 *
 * In a config file, it is the cluster without a kubeconfig.
 */
function ownClusterIn({ clusters }: Config, context: string | undefined): string | undefined {
  if (clusters.length === 0) return context;
  return clusters.find((cluster) => cluster.kubeconfig === undefined && (cluster.context ?? context) === context)?.name;
}

/** Returns a reader of the cluster settings. Its first call gives the settings of the loaded config. Later calls read the config file again. */
function createClustersReader(
  { clusters, configFile, authentication }: Config,
  hub: () => string | undefined,
): () => Promise<Config['clusters']> {
  let first = true;
  return async () => {
    if (first || configFile === undefined) {
      first = false;
      return clusters;
    }
    return reloadClusters(configFile, { authentication, hub: hub() });
  };
}

function demoCandidate({
  name,
  url,
  caPem,
  token,
}: {
  readonly name: string;
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
}): ClusterCandidate {
  return {
    result: 'usable',
    name: clusterName(name),
    settings: { labels: {}, namespaces: [], secrets: 'live', authorization: 'sar' },
    endpoint: {
      name: clusterName(name),
      server: url,
      trust: { type: 'authority', certificates: { type: 'data', data: Buffer.from(caPem) } },
      credentials: { type: 'token', token },
      compression: 'off',
    },
  };
}
