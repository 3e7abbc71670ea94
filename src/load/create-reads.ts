import type { Access, Visibility } from '../access/access.ts';
import { type Audit, noAudit } from '../audit/audit.ts';
import { boundedList } from '../core/bounded-list.ts';
import type { Clock } from '../core/clock.ts';
import { keyOfKind, type ServedResource } from '../core/kinds.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';
import { mapPromiseOrValue, type PromiseOrValue } from '../core/scheduling/promise-or-value.ts';
import { matchesLabelSelector, parseLabelSelector } from '../core/selectors.ts';
import { createSensitiveKinds } from '../core/sensitive-kinds.ts';
import { compareText } from '../core/text.ts';
import { kindByAnyName } from '../model/any-name.ts';
import type { Model, ModelKind } from '../model/model.ts';
import type { OrderPosition } from '../store/query/cursor.ts';
import type { MirrorReader, Mirrors } from '../watch/mirrors.ts';
import { createClusterViews } from './reads/cluster-views.ts';
import { createSeal, openPosition, type SealScope } from './reads/cursor-seal.ts';
import { KeptPages } from './reads/kept-pages.ts';
import { type CheckedArguments, checkArguments, mergeRelations, relationsOfPaths } from './reads/list-arguments.ts';
import { createListPage, type ListPageOptions, type PageRequest } from './reads/list-page.ts';
import { type LiveMember, readObjectById, readOneObject } from './reads/read-object.ts';
import { type ListSourceOptions, type ReadSource, type SourceRequest, shownState, withReadSources } from './reads/read-sources.ts';
import type { ClusterView, InModel, ListArguments, ListPage, MirroredKindView, ReadContext, Reads, ServedKindView } from './reads/reads.ts';
import { RelationLookup, type RelationLookupRequest } from './relations/relation-lookup.ts';

interface ReadsOptions {
  readonly mirrors: Mirrors;
  readonly access: Access;
  /** Returns the model of the schema that is served now. */
  readonly model: () => Model;
  /** Returns the member of this name. Undefined if the cluster has left the fleet. */
  readonly member: (name: ClusterName) => LiveMember | undefined;
  /** The key of 32 bytes that seals cursors. Replicas with the same key accept each other's cursors. */
  readonly sealKey: Uint8Array;
  /** Kinds that are treated like Secrets, by `keyOfKind`. Mirrors hold only their metadata. Default: none. */
  readonly sensitiveKinds?: readonly string[];
  /** Records live reads of sensitive kinds. Default: they are not recorded. */
  readonly audit?: Audit;
  readonly clock: Clock;
  readonly log: Log;
}

/** Creates the read side over these mirrors. The read side needs no disposal, because each request releases the mirrors that it holds. */
export function createReads(options: ReadsOptions): Reads {
  const { mirrors, access, model, member, sealKey, sensitiveKinds, audit = noAudit, clock, log } = options;
  const views = createClusterViews({ mirrors, access, settingsOf: (name) => member(name)?.settings });
  const sources = { mirrors, access, views, clock };
  const sensitive = createSensitiveKinds(sensitiveKinds);
  const lists = { ...sources, model, seal: createSeal(sealKey), sensitive, pages: new KeptPages() };
  const singles = { ...sources, member, sensitive, audit, log };
  return {
    clusters: (context, { names, labels }) => {
      const named = names == null ? views.visible(context.caller) : views.named(context.caller, boundedList('names', names));
      if (labels == null) return named;
      const selector = parseLabelSelector(labels);
      return named.filter((view) => matchesLabelSelector(selector, view.labels));
    },
    cluster: (context, name) => views.find(context.caller, name),
    servedKinds: (context, cluster) => servedKinds({ mirrors, access, model: model() }, context, cluster),
    list: (context, kind, args) => readList(lists, context, { kinds: [kind], chosen: true, args }),
    listKinds: async (context, request, args) =>
      readList({ ...lists, model: () => request.model }, context, {
        kinds: kindsOf(request, request.kinds),
        chosen: request.kinds != null,
        args,
      }),
    get: (context, request) => readOneObject(singles, context, request),
    getById: (context, request) => readObjectById(singles, context, request),
  };
}

/** Returns the named kinds, each once. Without `names`: all kinds of the model. Throws `BAD_INPUT` for an unknown or ambiguous name. */
function kindsOf({ model }: InModel, names: readonly string[] | null | undefined): readonly ModelKind[] {
  if (names == null) return [...model.kinds.values()];
  return [...new Set(boundedList('kinds', names).map((name) => kindByAnyName(model, name)))];
}

interface ServedOptions extends InModel {
  readonly mirrors: Mirrors;
  readonly access: Access;
}

/** Returns the kinds that a cluster serves. Empty if the cluster is hidden from the caller: a row may name such a cluster. */
function servedKinds({ mirrors, access, model }: ServedOptions, context: ReadContext, cluster: ClusterView): readonly ServedKindView[] {
  if (!access.maySeeCluster(context.caller, cluster.name)) return [];
  const resources = mirrors.servedKinds(cluster.name) ?? [];
  const known = resources.flatMap((resource) => {
    const kind = model.kinds.get(keyOfKind(resource));
    return kind === undefined ? [] : [{ resource, kind }];
  });
  return known
    .map(({ resource, kind }) => servedKindOf({ cluster, kind, resource, mirror: mirrors.peek(cluster.name, kind) }, access, context))
    .sort((a, b) => compareText(a.kind.group, b.kind.group) || compareText(a.kind.kind, b.kind.kind));
}

interface ServedKindSource {
  readonly cluster: ClusterView;
  readonly kind: ModelKind;
  readonly resource: ServedResource;
  readonly mirror: MirrorReader | undefined;
}

function servedKindOf(source: ServedKindSource, access: Access, context: ReadContext): ServedKindView {
  const { kind, resource } = source;
  let view: PromiseOrValue<MirroredKindView> | undefined;
  const mirrored = () => {
    view ??= mirroredKindOf(source, access, context);
    return view;
  };
  return { kind, versions: resource.versions, verbs: resource.verbs, mirrored };
}

function mirroredKindOf(
  { cluster, kind, mirror }: ServedKindSource,
  access: Access,
  { caller, signal }: ReadContext,
): PromiseOrValue<MirroredKindView> {
  const missing = { phase: 'MISSING', cluster, kind } as const;
  if (mirror === undefined) return { sync: missing };
  const found = access.visibilityOf({ caller, cluster: cluster.name, kind, verb: 'list' }, signal);
  return mapPromiseOrValue(found, (visibility) => {
    if (visibility.type === 'none') return { sync: { ...missing, fault: visibility.fault } };
    const sync = { ...shownState(mirror, visibility), cluster, kind };
    return sync.phase === 'MISSING' ? { sync } : { sync, count: countVisible(mirror, visibility) };
  });
}

/** Counts the objects that are visible. */
function countVisible({ store }: MirrorReader, visibility: Exclude<Visibility, { type: 'none' }>): number {
  return visibility.type === 'all' ? store.size : [...visibility.namespaces].reduce((sum, namespace) => sum + store.countIn(namespace), 0);
}

interface ListsOptions extends ListSourceOptions, ListPageOptions {
  readonly model: () => Model;
}

/** The kinds to list, and the arguments of the list. */
interface ListRequest {
  readonly kinds: readonly ModelKind[];
  /**
   * True if the caller chose the kinds. A cluster that the caller named and that does not serve one of them is then a fault. False: such a
   * cluster is left out.
   */
  readonly chosen: boolean;
  readonly args: ListArguments;
}

/**
 * Lists one page over all requested clusters and kinds, as of one moment.
 *
 * @throws {MusterError} `BAD_INPUT` if an argument is wrong. It is thrown before any wait.
 */
async function readList(options: ListsOptions, context: ReadContext, { kinds, chosen, args }: ListRequest): Promise<ListPage> {
  await context.timeSlices.pause();
  const model = options.model();
  const checked = checkArguments(args, { model, kinds, sensitive: options.sensitive });
  const scope: SealScope = { callerKey: context.caller.key, filter: checked.filter };
  const after = openPosition(options.seal, checked.after, scope);
  const requests = sourceRequestsOf(options, context, { kinds, chosen, checked });
  const { namespaces, selector, where, search, order, first, waitMs } = checked;
  const spec = { namespaces, selector, where, search, order, first, after };
  const aggregated = args.aggregated && {
    model,
    kinds,
    relations: relationsOfPaths(args.aggregated, { model, kinds, sensitive: options.sensitive }),
  };
  const relations = mergeRelations(checked.relations, aggregated?.relations);
  const keepAs = isKeepable(checked) && aggregated === undefined ? keyOfPage(checked, after) : undefined;
  const page = { spec, context, scope, waitMs, aggregated };
  if (relations.size > 0)
    return readListWithRelated(options, context, { requests, waitMs, page, lookup: { model, relations, namespaces } });
  // The lists of a cluster that is not mirrored belong to one operation.
  const isMirrored = (source: ReadSource) =>
    source.type !== 'held' || options.mirrors.peek(source.request.cluster.name, source.request.kind) === source.mirror;
  return withReadSources(options, { requests, waitMs, context }, (sources) =>
    createListPage(options, sources, { ...page, keepAs: sources.every(isMirrored) ? keepAs : undefined }),
  );
}

/**
 * True if the objects of the page depend on the objects of its sources alone. `where` and `orderBy` may also read the state of clusters, other objects and
 * the time.
 */
function isKeepable({ where, search, order }: CheckedArguments): boolean {
  return where === undefined && search === undefined && order === undefined;
}

/** Returns a text that is equal only for pages of the same list, of the same size and at the same place. */
function keyOfPage({ filter, first }: CheckedArguments, after: OrderPosition | undefined): string {
  return JSON.stringify([filter, first, after && [after.namespace, after.name, after.cluster, after.kind]]);
}

interface RelatedListRequest {
  readonly requests: readonly SourceRequest[];
  readonly waitMs: number;
  readonly page: PageRequest;
  readonly lookup: Pick<RelationLookupRequest, 'model' | 'relations' | 'namespaces'>;
}

/** Lists a page whose filter or order depends on other objects. Waits for their mirrors together with the mirrors of the listed kinds. */
async function readListWithRelated(
  options: ListsOptions,
  context: ReadContext,
  { requests, waitMs, page, lookup }: RelatedListRequest,
): Promise<ListPage> {
  using related = new RelationLookup(options, { ...lookup, waitMs, context });
  const inSources = <T>(use: (sources: readonly ReadSource[]) => PromiseOrValue<T>) =>
    withReadSources(options, { requests, waitMs: related.remainingWaitMs, context }, use);
  const holdOwners = async () =>
    related.holdMirrors(await inSources((sources) => context.timeSlices.run(related.ownerKindsIn(sources, page.spec))));
  await Promise.all([holdOwners(), related.holdMirrors(related.relatedKindsOf(requests))]);
  // Objects that arrived during the wait may have owners of further kinds. The loop holds their mirrors too. It ends, because a cluster may have
  // at most 16 kinds of owners.
  while (await holdOwners());
  await related.refreshSources();
  return await inSources((sources) => createListPage(options, sources, { ...page, related }));
}

function sourceRequestsOf(
  { views }: ListsOptions,
  { caller }: ReadContext,
  { kinds, chosen, checked }: Omit<ListRequest, 'args'> & { readonly checked: CheckedArguments },
): readonly SourceRequest[] {
  const { clusters, namespaces } = checked;
  const wanted = clusters === undefined ? views.visible(caller) : views.named(caller, clusters);
  const isNamed = chosen && clusters !== undefined;
  return wanted.flatMap((cluster) => kinds.map((kind) => ({ cluster, kind, verb: 'list', isNamed, namespaces }) as const));
}
