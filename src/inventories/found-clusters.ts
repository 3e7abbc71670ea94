import type { ConfiguredInventory } from '../config/config.ts';
import type { FoundClusterSettings } from '../config/load-config.ts';
import { sha256Of } from '../core/json/canonical-json.ts';
import type { Json } from '../core/json.ts';
import { type ClusterName, clusterName } from '../core/names.ts';
import type { ClusterCandidate, ClusterListing, ClusterSource } from '../fleet/cluster-source.ts';
import { adapters } from './adapters/adapters.ts';
import type { InventoryAdapter } from './adapters/inventory-adapter.ts';
import { registeredClusters } from './adapters/kubeconfig-secrets.ts';
import { followInventory, type HolderPorts } from './inventory.ts';

export interface FoundClustersOptions extends HolderPorts {
  /** Undefined: no cluster can be registered, and each inventory names its holder. */
  readonly hub: ClusterName | undefined;
  readonly systemNamespace: string;
  readonly settings: FoundClusterSettings;
  /** Yields the settings after each change, until the signal aborts. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<FoundClusterSettings>;
}

/** The source of registered and found clusters. */
export interface FoundClusters extends ClusterSource {
  /** Returns the candidate of each Cluster of the hub that was yielded last, by name. */
  registered(): ReadonlyMap<ClusterName, ClusterCandidate>;
}

/** The inventory that registered clusters are read by. */
const registrations: ConfiguredInventory = {
  ...{ type: 'ClusterAPI', nameAs: '{name}', secrets: 'none', serviceAccount: '', consumer: '', providers: [] },
};

interface RunningInventory {
  readonly inventory: ConfiguredInventory;
  readonly adapter: InventoryAdapter;
  /** The position in the config. Undefined for registered clusters. */
  readonly where: string | undefined;
  /** Equal for inventories that are read in the same way from the same place. */
  readonly key: string;
  readonly life: AbortController;
  set: ClusterListing;
}

/**
 * Creates the source of the clusters that are registered on the hub, then of those that inventories list, in the order of the config.
 *
 * Its first set is empty, because the members that hold the others must join first. An inventory whose settings change keeps its last set
 * until it is read again.
 */
export function createFoundClusters(options: FoundClustersOptions): FoundClusters {
  const registered = { set: emptySet };
  return {
    watch: (signal) => watchAll(options, registered, signal),
    registered: () => new Map(registered.set.candidates.map((candidate) => [candidate.name, candidate])),
  };
}

const emptySet: ClusterListing = { candidates: [] };

async function* watchAll(
  options: FoundClustersOptions,
  registered: { set: ClusterListing },
  signal: AbortSignal,
): AsyncIterable<ClusterListing> {
  let changed = Promise.withResolvers<void>();
  let running: readonly RunningInventory[] = [];
  const tell = () => changed.resolve();
  const follow = (settings: FoundClusterSettings) => {
    running = restarted(running, { options, settings, tell }, signal);
    tell();
  };
  follow(options.settings);
  void followSettings(options, follow, signal);
  signal.addEventListener('abort', tell, { once: true });
  while (!signal.aborted) {
    registered.set = running.find(({ adapter }) => adapter === registeredClusters)?.set ?? emptySet;
    yield { candidates: running.flatMap(({ set }) => set.candidates), faults: running.flatMap(({ set }) => set.faults ?? []) };
    await changed.promise;
    changed = Promise.withResolvers();
  }
}

async function followSettings(
  { changes }: FoundClustersOptions,
  follow: (settings: FoundClusterSettings) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const settings of changes(signal)) if (!signal.aborted) follow(settings);
}

/** Starts new and changed inventories, keeps equal ones, and ends the others. */
function restarted(
  before: readonly RunningInventory[],
  {
    options,
    settings,
    tell,
  }: { readonly options: FoundClustersOptions; readonly settings: FoundClusterSettings; readonly tell: () => void },
  signal: AbortSignal,
): readonly RunningInventory[] {
  const { allowPrivate, inventories } = settings;
  const wanted = [
    ...(options.hub === undefined ? [] : [{ inventory: registrations, adapter: registeredClusters, where: undefined }]),
    ...inventories.map((inventory, at) => ({ inventory, adapter: adapters[inventory.type], where: `inventories[${at}]` })),
  ];
  const now = wanted.map(({ inventory, adapter, where }) => {
    const key = sha256Of([inventory, allowPrivate, where ?? ''] as unknown as Json);
    const same = before.find((one) => one.key === key);
    if (same !== undefined) return same;
    const isFormer = (one: RunningInventory) =>
      one.where === where && one.adapter === adapter && one.inventory.cluster === inventory.cluster;
    const set = before.find(isFormer)?.set ?? emptySet;
    const started: RunningInventory = { inventory, adapter, where, key, life: new AbortController(), set };
    const holder = inventory.cluster === undefined ? options.hub : clusterName(inventory.cluster);
    if (holder === undefined) return started;
    const { systemNamespace } = options;
    const onSet = (now: ClusterListing) => {
      started.set = now;
      tell();
    };
    followInventory(
      { ...options, adapter, inventory, holder, systemNamespace, allowPrivate, where, onSet },
      AbortSignal.any([signal, started.life.signal]),
    );
    return started;
  });
  for (const one of before) if (!now.includes(one)) one.life.abort();
  return now;
}
