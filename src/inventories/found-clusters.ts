import type { FoundClusterSettings } from '../config/load-config.ts';
import { sha256Of } from '../core/json/canonical-json.ts';
import type { Json } from '../core/json.ts';
import { type ClusterName, clusterName } from '../core/names.ts';
import type { ClusterCandidate, ClusterListing, ClusterSource } from '../fleet/cluster-source.ts';
import { adapters } from './adapters/adapters.ts';
import type { InventoryAdapter, InventorySettings } from './adapters/inventory-adapter.ts';
import { registeredClusters } from './adapters/kubeconfig-secrets.ts';
import { createInventoryMemory, type InventoryMemory } from './candidate-maker.ts';
import { followInventory, type HolderPorts } from './inventory.ts';

export interface FoundClustersOptions extends HolderPorts {
  /** The hub. Undefined: no cluster can be registered, and only inventories that name their cluster are read. */
  readonly hub: ClusterName | undefined;
  readonly systemNamespace: string;
  readonly settings: FoundClusterSettings;
  /** Yields the settings after each change, until the signal aborts. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<FoundClusterSettings>;
}

/** The source of the clusters that are registered on the hub or listed by inventories. */
export interface FoundClusters extends ClusterSource {
  /** Returns the candidates of the Clusters on the hub, by name, as they were yielded last. */
  registered(): ReadonlyMap<ClusterName, ClusterCandidate>;
  /**
   * Returns the clusters that hold an inventory without a first set. The fleet has not taken the clusters of that inventory yet. An inventory that may
   * not be read has an empty first set. The Clusters on the hub count as an inventory of the hub.
   */
  unread(): ReadonlySet<ClusterName>;
}

/** The settings with which the Clusters on the hub are read. */
const registrations: InventorySettings = { nameAs: '{name}', secrets: 'none' };

/** An inventory that the settings ask for. */
interface WantedInventory {
  readonly inventory: InventorySettings;
  readonly adapter: InventoryAdapter;
  /** Its position in the config, such as `inventories[0]`. Undefined for registered clusters. */
  readonly where: string | undefined;
  /** The cluster that holds the objects of the inventory. Undefined: the config names none and there is no hub, so it lists no cluster. */
  readonly holder: ClusterName | undefined;
  /** Identifies the settings of the inventory. Inventories with equal settings have equal keys. */
  readonly key: string;
}

interface RunningInventory extends WantedInventory {
  readonly allowPrivate: readonly string[];
  readonly life: AbortController;
  readonly memory: InventoryMemory;
  set: ClusterListing;
  isRead: boolean;
}

/** The facts about the last set that was yielded. `unread` changes only after the clusters of the set have joined the fleet. */
interface YieldedFacts {
  registered: ClusterListing;
  unread: ReadonlySet<ClusterName>;
}

/**
 * Creates the source of found clusters. Clusters that are registered on the hub come first, then the clusters of each inventory, in the order of the
 * config.
 *
 * The first set is empty, because an inventory can be read only after the cluster that holds it has joined the fleet. If the settings of an inventory
 * change, its last set stays until it has been read with the new settings.
 */
export function createFoundClusters(options: FoundClustersOptions): FoundClusters {
  const yielded: YieldedFacts = { registered: emptySet, unread: holdersOf(wantedBy(options.settings, options.hub)) };
  let cached: { readonly set: ClusterListing; readonly byName: ReadonlyMap<ClusterName, ClusterCandidate> } | undefined;
  return {
    watch: (signal) => watchAll(options, yielded, signal),
    registered() {
      const set = yielded.registered;
      // Built once for each set: after a change, callers look up each of hundreds of clusters, and call this method each time.
      if (cached?.set !== set) cached = { set, byName: new Map(set.candidates.map((candidate) => [candidate.name, candidate])) };
      return cached.byName;
    },
    unread: () => yielded.unread,
  };
}

const emptySet: ClusterListing = { candidates: [] };

async function* watchAll(options: FoundClustersOptions, yielded: YieldedFacts, signal: AbortSignal): AsyncIterable<ClusterListing> {
  let changed = Promise.withResolvers<void>();
  let running: readonly RunningInventory[] = [];
  const notify = () => changed.resolve();
  const follow = (settings: FoundClusterSettings) => {
    running = restarted(running, { options, settings, notify }, signal);
    notify();
  };
  follow(options.settings);
  void followSettings(options, follow, signal);
  signal.addEventListener('abort', notify, { once: true });
  while (!signal.aborted) {
    yielded.registered = running.find(({ adapter }) => adapter === registeredClusters)?.set ?? emptySet;
    const unread = holdersOf(running.filter(({ isRead }) => !isRead));
    yield { candidates: running.flatMap(({ set }) => set.candidates), faults: running.flatMap(({ set }) => set.faults ?? []) };
    // The code after `yield` runs when the fleet asks for the next set. The clusters of this set have joined by then.
    yielded.unread = unread;
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

/**
 * Starts new and changed inventories, keeps unchanged ones running, and ends all others. Returns the running inventories, in the order of the config.
 */
function restarted(
  before: readonly RunningInventory[],
  {
    options,
    settings,
    notify,
  }: { readonly options: FoundClustersOptions; readonly settings: FoundClusterSettings; readonly notify: () => void },
  signal: AbortSignal,
): readonly RunningInventory[] {
  const { allowPrivate } = settings;
  const wanted = wantedBy(settings, options.hub);
  const formers = formersOf(wanted, before);
  const isKept = (former: RunningInventory | undefined, { key, where }: WantedInventory): former is RunningInventory =>
    former?.key === key && former.where === where && isSameList(former.allowPrivate, allowPrivate);
  const kept = new Set(wanted.flatMap((one, at) => (isKept(formers[at], one) ? [formers[at]] : [])));
  for (const one of before) if (!kept.has(one)) one.life.abort();
  return wanted.map((one, at) => {
    const former = formers[at];
    if (isKept(former, one)) return former;
    const { memory = createInventoryMemory(), set = emptySet } = former ?? {};
    const started: RunningInventory = { ...one, allowPrivate, memory, set, isRead: false, life: new AbortController() };
    const { holder } = one;
    if (holder === undefined) return started;
    const onSet = (now: ClusterListing) => {
      started.set = now;
      started.isRead = true;
      notify();
    };
    followInventory({ ...options, ...one, holder, memory, allowPrivate, onSet }, AbortSignal.any([signal, started.life.signal]));
    return started;
  });
}

function holdersOf(inventories: readonly WantedInventory[]): ReadonlySet<ClusterName> {
  return new Set(inventories.flatMap(({ holder }) => holder ?? []));
}

function wantedBy({ inventories }: FoundClusterSettings, hub: ClusterName | undefined): readonly WantedInventory[] {
  const registered = { inventory: registrations, adapter: registeredClusters, where: undefined, holder: hub, key: 'registrations' };
  const listed = inventories.map((inventory, at) => ({
    inventory,
    adapter: adapters[inventory.type],
    where: `inventories[${at}]`,
    holder: inventory.cluster === undefined ? hub : clusterName(inventory.cluster),
    key: sha256Of(inventory as unknown as Json),
  }));
  return hub === undefined ? listed : [registered, ...listed];
}

/**
 * Returns for each wanted inventory the running one whose memory and last set it takes over. Undefined: there is none. It is one with the same
 * settings at any position, or else one of the same type, holder and position. Each running inventory is used at most once.
 */
function formersOf(wanted: readonly WantedInventory[], before: readonly RunningInventory[]): readonly (RunningInventory | undefined)[] {
  const left = new Set(before);
  const take = (isFormer: (one: RunningInventory) => boolean) => {
    const former = [...left].find(isFormer);
    if (former !== undefined) left.delete(former);
    return former;
  };
  const equal = wanted.map(({ key }) => take((one) => one.key === key));
  return wanted.map(
    ({ where, adapter, holder }, at) => equal[at] ?? take((one) => one.where === where && one.adapter === adapter && one.holder === holder),
  );
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, at) => text === b[at]);
}
