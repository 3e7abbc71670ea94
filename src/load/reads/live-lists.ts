import { apiForCaller } from '../../access/caller-api.ts';
import type { Clock } from '../../core/clock.ts';
import type { HeapGauge } from '../../core/heap-gauge.ts';
import { type GroupKind, keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { isSecret } from '../../core/redaction.ts';
import { createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import { createSensitiveKinds, type SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { MirrorReader, Mirrors } from '../../watch/mirrors.ts';
import { type DecodingScheduler, type ListedNamespaces, LiveList, maxListedNamespaces } from './live-list.ts';
import { LiveListBudget } from './live-list-budget.ts';
import type { MirrorKey, UnmirroredLists } from './mirror-loader.ts';
import type { OperationCaller } from './operation-loaders.ts';
import { isReadLive, type LiveMember } from './read-object.ts';

interface LiveListsOptions {
  readonly mirrors: Pick<Mirrors, 'served'>;
  readonly member: (name: ClusterName) => LiveMember | undefined;
  /** Kinds of which only the metadata is listed, as of Secrets, by `keyOfKind`. */
  readonly sensitiveKinds: readonly string[];
  readonly heap: Pick<HeapGauge, 'used'>;
  readonly requestScheduler: DecodingScheduler;
  readonly clock: Clock;
}

interface LiveListsParts extends LiveListsOptions {
  readonly sensitive: SensitiveKinds;
  readonly budget: LiveListBudget;
}

/** Maximum number of concurrent lists of one operation. */
const maxConcurrent = 10;

/** Returns the function that creates the live lists of each operation. All of them share one budget. */
export function createLiveListFactory(options: LiveListsOptions): (operation: OperationCaller) => UnmirroredLists {
  const shared = { ...options, sensitive: createSensitiveKinds(options.sensitiveKinds), budget: new LiveListBudget() };
  return (operation) => new LiveLists(shared, operation);
}

/**
 * The lists of one operation. It lists each kind of a cluster at most once in each namespace. It never lists the Secrets of a cluster with
 * `secrets: none`: they have the fault `FORBIDDEN`.
 */
class LiveLists implements UnmirroredLists {
  readonly #options: LiveListsParts;
  readonly #operation: OperationCaller;
  readonly #limit = createConcurrencyLimit(maxConcurrent);
  readonly #lists = new Map<string, LiveList>();

  constructor(options: LiveListsParts, operation: OperationCaller) {
    this.#options = options;
    this.#operation = operation;
  }

  areOf(cluster: ClusterName): boolean {
    return isReadLive(this.#options.member(cluster));
  }

  held({ cluster, kind }: MirrorKey): MirrorReader | undefined {
    return this.#lists.get(idOf(cluster.name, kind));
  }

  load(key: MirrorKey): PromiseOrValue<MirrorReader | undefined> {
    const { cluster, kind } = key;
    const { mirrors, member } = this.#options;
    const [found, resource] = [member(cluster.name), mirrors.served(cluster.name, kind)];
    if (found === undefined || resource === undefined) return undefined;
    const list = this.#lists.get(idOf(cluster.name, kind)) ?? this.#createList(found, resource);
    const scope = scopeOf(key, resource);
    if (list.covers(scope)) return list;
    return list.load(scope, this.#operation.signal).then(() => list);
  }

  [Symbol.dispose](): void {
    for (const list of this.#lists.values()) list[Symbol.dispose]();
    this.#lists.clear();
  }

  #createList(member: LiveMember, resource: ServedResource): LiveList {
    const { sensitive, budget, heap, requestScheduler, clock } = this.#options;
    const { caller } = this.#operation;
    const api = apiForCaller(member, this.#operation);
    const isWithheld = isSecret(resource) && member.settings.secrets === 'none';
    const form = sensitive.has(resource) ? 'metadata' : 'object';
    const list = new LiveList({ api, resource, form, isWithheld, caller, budget, heap, limit: this.#limit, requestScheduler, clock });
    this.#lists.set(idOf(api.cluster, resource), list);
    return list;
  }
}

/**
 * Returns the namespaces to list: those that are requested and visible. If the caller may see all namespaces, one list of all of them takes the place of
 * more than 100 lists, and of a request that names none.
 */
function scopeOf({ namespaces, visible = { type: 'all' } }: MirrorKey, { namespaced }: ServedResource): ListedNamespaces {
  if (!namespaced) return 'all';
  if (visible.type === 'namespaces')
    return namespaces === undefined ? [...visible.namespaces] : namespaces.filter((namespace) => visible.namespaces.has(namespace));
  return namespaces === undefined || namespaces.length > maxListedNamespaces ? 'all' : namespaces;
}

function idOf(cluster: ClusterName, kind: GroupKind): string {
  return `${cluster}/${keyOfKind(kind)}`;
}
