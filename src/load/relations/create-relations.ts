import { isVisibleIn } from '../../access/is-visible-in.ts';
import { MusterError } from '../../core/errors.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { idOfObject } from '../../core/object-ids.ts';
import { allPromiseOrValues, mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import { createSensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import { findMatching, type RelatedCondition } from '../../store/filter/matching.ts';
import type { QuerySpec } from '../../store/query/query.ts';
import type { ClusterStatus } from '../../watch/mirrors.ts';
import { createSeal, type ListScope, openPosition } from '../reads/cursor-seal.ts';
import { checkFirst, type RelationsByKind, relationsOfPaths } from '../reads/list-arguments.ts';
import { createListPage, type ListPageOptions, type PageRequest, querySourceOf } from '../reads/list-page.ts';
import { findInSource, findLive, isReadLive, type LiveReadOptions } from '../reads/read-object.ts';
import { type ReadSource, type ReadSourceOptions, unknownKindFault } from '../reads/read-sources.ts';
import type { FoundObject, ListPage, ReadContext, Row } from '../reads/reads.ts';
import { RelatedSources } from './related-sources.ts';
import { RelationLookup } from './relation-lookup.ts';
import { maxRelationDepth, type ReferenceTarget, type RelationPage, type RelationQuery, type Relations } from './relations.ts';

interface RelationsOptions extends ReadSourceOptions, Pick<LiveReadOptions, 'log'> {
  /** Returns the member of this name. Objects of one that is not mirrored are read as the caller. Default: no cluster has a live API. */
  readonly member?: LiveReadOptions['member'] | undefined;
  /** The key of 32 bytes that seals cursors. */
  readonly sealKey: Uint8Array;
  /** Kinds that are treated like Secrets, by `keyOfKind`. Default: none. */
  readonly sensitiveKinds?: readonly string[] | undefined;
}

/** Returns the function that creates the relations of each operation, and of each message of a subscription. */
export function createRelations({
  sealKey,
  sensitiveKinds,
  member = noMember,
  ...sources
}: RelationsOptions): (context: ReadContext) => Relations {
  const options = { ...sources, member, seal: createSeal(sealKey), sensitive: createSensitiveKinds(sensitiveKinds) };
  return (context) => {
    const reads = { options, context, sources: new RelatedSources(sources, context), kinds: new Map() };
    return {
      one: (from, { model, target }) => findTarget(reads, from, { model, target, depth: nextDepth(from) }),
      many: (from, { model, query, page }) => listRelated(reads, from, { model, query, page, depth: nextDepth(from) }),
    };
  };
}

const noMember = () => undefined;

interface OperationReads {
  readonly options: LiveReadOptions & ListPageOptions;
  readonly context: ReadContext;
  readonly sources: RelatedSources;
  /** Cache of the kinds of the model: by the list of kinds in a query, or by the cluster if the query has no list. */
  readonly kinds: Map<readonly GroupKind[] | ClusterName, readonly ModelKind[]>;
}

interface TargetRequest {
  readonly model: Model;
  readonly target: ReferenceTarget;
  readonly depth: number;
}

interface RelationPageRequest {
  readonly model: Model;
  readonly query: RelationQuery;
  readonly page: RelationPage;
  readonly depth: number;
}

const defaultFirst = 20;
/**
 * The number of objects that a page counts as, in addition to its objects, towards the read limit of the operation. An empty page takes
 * about as long as reading so many.
 */
const readsOfEmptyPage = 10;

function nextDepth({ depth = 0 }: Row): number {
  if (depth < maxRelationDepth) return depth + 1;
  throw new MusterError(
    'TOO_COSTLY',
    `expected at most ${maxRelationDepth} nested relations, got one more: send another query that starts there`,
  );
}

function findTarget(
  { options, sources, context }: OperationReads,
  { cluster, waitMs }: Row,
  { model, target, depth }: TargetRequest,
): PromiseOrValue<FoundObject> {
  context.countReads(1);
  const kind = model.kinds.get(keyOfKind(target.kind));
  if (kind === undefined) return { faults: [unknownKindFault(cluster, target.kind)] };
  const { namespaced } = options.mirrors.served(cluster.name, kind) ?? kind;
  const namespace = namespaced ? target.namespace : undefined;
  if (namespaced && (namespace ?? '') === '') return nothing;
  const { name, uid } = target;
  if (isReadLive(options.member(cluster.name)) && !options.sensitive.has(kind)) {
    const found = findLive(options, context, { cluster, kind, key: { cluster: cluster.name, namespace, name, uid } });
    return found.then((one) => (one.row === undefined ? one : { ...one, row: { ...one.row, depth, waitMs } }));
  }
  const request = { cluster, kind, verb: 'get', isNamed: true, namespace, waitMs } as const;
  const find = (source: ReadSource) => findInSource(source, { namespace, name, uid }, { sensitive: options.sensitive, depth, waitMs });
  return mapPromiseOrValue(sources.source(request), (source) =>
    isHidden(source, namespace) ? mapPromiseOrValue(sources.source({ ...request, name }), find) : find(source),
  );
}

/** True if the caller may not list the kind in the namespace. The caller may still have the right to get a single object of the namespace. */
function isHidden(source: ReadSource, namespace: string | undefined): boolean {
  if (source.type === 'held') return !isVisibleIn(source.visibility, namespace);
  return source.type === 'missing' && source.sync.fault?.code === 'FORBIDDEN';
}

const nothing: FoundObject = { faults: [] };

function listRelated(reads: OperationReads, from: Row, request: RelationPageRequest): PromiseOrValue<ListPage> {
  const pause = reads.context.timeSlices.pause();
  return pause === undefined ? listRelatedNow(reads, from, request) : pause.then(() => listRelatedNow(reads, from, request));
}

function listRelatedNow(reads: OperationReads, from: Row, { model, query, page, depth }: RelationPageRequest): PromiseOrValue<ListPage> {
  const { context, options } = reads;
  context.countReads(readsOfEmptyPage);
  const first = checkFirst(page.first, defaultFirst);
  const scope = new RelationScope(context, from, query);
  const after = openPosition(options.seal, page.after, scope);
  const { verb, namespace, order } = query;
  const { cluster, waitMs } = from;
  const kinds = kindsOf(reads, from, { model, query });
  const through = 'then' in query.related ? model.kinds.get(keyOfKind(query.related.kind)) : undefined;
  const loading = kinds.map((kind) => reads.sources.source({ cluster, kind, verb, isNamed: query.kinds !== undefined, namespace, waitMs }));
  if (through !== undefined) loading.push(reads.sources.source({ cluster, kind: through, verb: 'list', isNamed: true, namespace, waitMs }));
  return mapPromiseOrValue(allPromiseOrValues(loading), (all) => {
    const via = all.slice(kinds.length);
    const namespaces = namespace === undefined ? undefined : [namespace];
    const related = relatedOf(reads, query, via);
    const aggregated = page.aggregated && {
      model,
      kinds,
      relations: relationsOfPaths(page.aggregated, { model, kinds, sensitive: options.sensitive }),
    };
    const spec: QuerySpec = { namespaces, related, order, first, after };
    const reported = all.slice(0, kinds.length).filter((source) => isReported(source, query));
    const pageRequest = { spec, context, scope, depth, waitMs, via, aggregated };
    if (aggregated === undefined || aggregated.relations.size === 0) return createListPage(options, reported, pageRequest);
    return pageWithRelatedAggregates(reads, reported, { model, pageRequest, relations: aggregated.relations });
  });
}

interface RelatedAggregatesRequest {
  readonly model: Model;
  readonly pageRequest: PageRequest;
  readonly relations: RelationsByKind;
}

/** Creates a page with aggregates whose paths lead to other objects. */
async function pageWithRelatedAggregates(
  { options, context, sources: relatedSources }: OperationReads,
  sources: readonly ReadSource[],
  { model, pageRequest, relations }: RelatedAggregatesRequest,
): Promise<ListPage> {
  const { namespaces } = pageRequest.spec;
  using related = new RelationLookup(options, {
    model,
    relations,
    namespaces,
    waitMs: relatedSources.nextWaitMs(pageRequest.waitMs),
    context,
  });
  const owners = await context.timeSlices.run(related.ownerKindsIn(sources, pageRequest.spec));
  await related.holdMirrors([...related.relatedKindsOf(sources.map(({ request }) => request)), ...owners]);
  await related.refreshSources();
  return await createListPage(options, sources, { ...pageRequest, related });
}

interface RelationQueryInModel {
  readonly model: Model;
  readonly query: RelationQuery;
}

function kindsOf(
  { options, kinds: known }: OperationReads,
  { cluster }: Row,
  { model, query: { kinds } }: RelationQueryInModel,
): readonly ModelKind[] {
  const key = kinds ?? cluster.name;
  const found = known.get(key) ?? inModel(model, kinds ?? listedIn(options.mirrors.cluster(cluster.name)));
  known.set(key, found);
  return found;
}

function listedIn(cluster: ClusterStatus | undefined): readonly GroupKind[] {
  return cluster?.resources?.filter(({ verbs }) => verbs.includes('list')) ?? [];
}

function inModel({ kinds: known }: Model, kinds: readonly GroupKind[]): readonly ModelKind[] {
  return [...new Set(kinds.map((kind) => known.get(keyOfKind(kind))))].filter((kind) => kind !== undefined);
}

/**
 * Returns the condition for related objects. For a `RelatedThrough`, finds the objects of its third kind in the given source, and makes the
 * condition from them.
 */
function relatedOf({ context }: OperationReads, { related, namespace }: RelationQuery, [source]: readonly ReadSource[]): RelatedCondition {
  if (!('then' in related)) return related;
  const namespaces = namespace === undefined ? undefined : [namespace];
  const between = source?.type === 'held' ? findMatching(querySourceOf(source), { namespaces, related: related.related }) : [];
  context.countReads(between.length);
  return related.then(between);
}

/**
 * True if the answer reports the source. False for a kind that the query did not name and that the caller or the gateway may not list: it
 * is left out without a fault.
 */
function isReported(source: ReadSource, { kinds }: RelationQuery): boolean {
  if (kinds !== undefined || source.type === 'notServed') return true;
  const { phase, fault } = source.sync;
  return phase !== 'MISSING' || fault?.code !== 'FORBIDDEN';
}

/**
 * Identifies the list that the cursors of one page belong to: a cursor opens only with the same caller and list. `filter` is created only
 * when a cursor needs it, because most pages need no cursor.
 */
class RelationScope implements ListScope {
  readonly callerKey: string;
  readonly #from: Row;
  readonly #query: RelationQuery;

  constructor({ caller }: ReadContext, from: Row, query: RelationQuery) {
    this.callerKey = caller.key;
    this.#from = from;
    this.#query = query;
  }

  get filter(): string {
    const { cluster, kind, object } = this.#from;
    const { namespace = '', name } = object.metadata;
    const id = idOfObject({ cluster: cluster.name, group: kind.group, kind: kind.kind, namespace, name });
    const { kinds } = this.#query;
    return JSON.stringify(['relation', this.#query.name, id, kinds === undefined ? null : [...new Set(kinds.map(keyOfKind))].sort()]);
  }
}
