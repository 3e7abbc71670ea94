import { MusterError } from '../../core/errors.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import { idOfObject } from '../../core/object-ids.ts';
import { allPromiseOrValues, mapPromiseOrValue, type PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import { createSensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import { type RelatedCondition, selectAll } from '../../store/filter/matching.ts';
import type { QuerySpec } from '../../store/query/query.ts';
import type { ClusterStatus } from '../../watch/mirrors.ts';
import { createSeal, type ListScope, openPosition } from '../reads/cursor-seal.ts';
import { type BegunRelations, checkFirst, relationsIn } from '../reads/list-arguments.ts';
import { type AskedPage, type ListedOptions, listedOf, sourceOf } from '../reads/list-page.ts';
import { foundIn } from '../reads/read-object.ts';
import { type Part, type PartOptions, unknownKindFault } from '../reads/read-sources.ts';
import type { Found, Listed, ReadContext, Row } from '../reads/reads.ts';
import { RelatedParts } from './related-sources.ts';
import { BegunRelated } from './relation-lookup.ts';
import { maxRelationDepth, type Question, type RelatedPage, type Relations, type Target } from './relations.ts';

interface RelationsOptions extends PartOptions {
  /** 32 bytes: what cursors are sealed with. */
  readonly sealKey: Uint8Array;
  /** Kinds to be treated as Secrets are, by `keyOfKind`. */
  readonly sensitiveKinds?: readonly string[] | undefined;
}

/** What makes the relations of each operation, and of each message of a subscription. */
export function createRelations({ sealKey, sensitiveKinds, ...parts }: RelationsOptions): (context: ReadContext) => Relations {
  const options = { ...parts, seal: createSeal(sealKey), sensitive: createSensitiveKinds(sensitiveKinds) };
  return (context) => {
    const reading = { options, context, parts: new RelatedParts(parts, context), kinds: new Map() };
    return {
      one: (from, { model, target }) => one(reading, from, { model, target, depth: nextDepth(from) }),
      many: (from, { model, question, page }) => many(reading, from, { model, question, page, depth: nextDepth(from) }),
    };
  };
}

interface Reading {
  readonly options: PartOptions & ListedOptions;
  readonly context: ReadContext;
  readonly parts: RelatedParts;
  /** Those of the model, by what names them: the kinds of a question, or the cluster whose kinds they are. */
  readonly kinds: Map<readonly GroupKind[] | ClusterName, readonly ModelKind[]>;
}

interface AskedTarget {
  readonly model: Model;
  readonly target: Target;
  readonly depth: number;
}

interface AskedQuestion {
  readonly model: Model;
  readonly question: Question;
  readonly page: RelatedPage;
  readonly depth: number;
}

const defaultFirst = 20;
/** To find nothing takes about as long as to look at so many objects. */
const looksOfPage = 10;

function nextDepth({ depth = 0 }: Row): number {
  if (depth < maxRelationDepth) return depth + 1;
  throw new MusterError(
    'TOO_COSTLY',
    `expected at most ${maxRelationDepth} relations inside each other, got one more: ask again from there`,
  );
}

function one({ options, parts, context }: Reading, { cluster, waitMs }: Row, { model, target, depth }: AskedTarget): PromiseOrValue<Found> {
  context.look(1);
  const kind = model.kinds.get(keyOfKind(target.kind));
  if (kind === undefined) return { faults: [unknownKindFault(cluster, target.kind)] };
  const { namespaced } = options.mirrors.served(cluster.name, kind) ?? kind;
  const namespace = namespaced ? target.namespace : undefined;
  if (namespaced && (namespace ?? '') === '') return nothing;
  return mapPromiseOrValue(parts.part({ cluster, kind, verb: 'get', named: true, namespace, waitMs }), (part) =>
    foundIn(part, { namespace, name: target.name, uid: target.uid }, { sensitive: options.sensitive, depth, waitMs }),
  );
}

const nothing: Found = { faults: [] };

function many(reading: Reading, from: Row, asked: AskedQuestion): PromiseOrValue<Listed> {
  const pause = reading.context.timeSlices.pause();
  return pause === undefined ? manyNow(reading, from, asked) : pause.then(() => manyNow(reading, from, asked));
}

function manyNow(reading: Reading, from: Row, { model, question, page, depth }: AskedQuestion): PromiseOrValue<Listed> {
  const { context, options } = reading;
  context.look(looksOfPage);
  const first = checkFirst(page.first, defaultFirst);
  const scope = new RelationScope(context, from, question);
  const after = openPosition(options.seal, page.after, scope);
  const { verb, namespace, order } = question;
  const { cluster, waitMs } = from;
  const kinds = kindsOf(reading, from, { model, question });
  const through = 'then' in question.related ? model.kinds.get(keyOfKind(question.related.kind)) : undefined;
  const asked = kinds.map((kind) => reading.parts.part({ cluster, kind, verb, named: question.kinds !== undefined, namespace, waitMs }));
  if (through !== undefined) asked.push(reading.parts.part({ cluster, kind: through, verb: 'list', named: true, namespace, waitMs }));
  return mapPromiseOrValue(allPromiseOrValues(asked), (all) => {
    const via = all.slice(kinds.length);
    const namespaces = namespace === undefined ? undefined : [namespace];
    const related = relatedOf(reading, question, via);
    const aggregated = page.aggregated && {
      model,
      kinds,
      relations: relationsIn(page.aggregated, { model, kinds, sensitive: options.sensitive }),
    };
    const spec: QuerySpec = { namespaces, related, order, first, after };
    const told = all.slice(0, kinds.length).filter((part) => isTold(part, question));
    const asked = { spec, context, scope, depth, waitMs, via, aggregated };
    if (aggregated === undefined || aggregated.relations.size === 0) return listedOf(options, told, asked);
    return listedThrough(reading, told, { model, asked, relations: aggregated.relations });
  });
}

interface AskedThrough {
  readonly model: Model;
  readonly asked: AskedPage;
  readonly relations: BegunRelations;
}

/** A page of which aggregates are asked by paths that lead to other objects. */
async function listedThrough(
  { options, context, parts: held }: Reading,
  parts: readonly Part[],
  { model, asked, relations }: AskedThrough,
): Promise<Listed> {
  const { namespaces } = asked.spec;
  using related = new BegunRelated(options, { model, relations, namespaces, waitMs: held.nextWaitMs(asked.waitMs), context });
  const owners = await context.timeSlices.run(related.ownersIn(parts, asked.spec));
  await related.hold([...related.knownOf(parts.map(({ ask }) => ask)), ...owners]);
  await related.look();
  return await listedOf(options, parts, { ...asked, related });
}

interface Asked {
  readonly model: Model;
  readonly question: Question;
}

function kindsOf({ options, kinds: known }: Reading, { cluster }: Row, { model, question: { kinds } }: Asked): readonly ModelKind[] {
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

/** @param via The kind through which the objects are found, if there is one. */
function relatedOf({ context }: Reading, { related, namespace }: Question, [part]: readonly Part[]): RelatedCondition {
  if (!('then' in related)) return related;
  const namespaces = namespace === undefined ? undefined : [namespace];
  const between = part?.type === 'held' ? selectAll(sourceOf(part), { namespaces, related: related.related }) : [];
  context.look(between.length);
  return related.then(between);
}

/** Of kinds that nobody chose those that the caller, or the gateway, may not list are not spoken of: nothing of them is known. */
function isTold(part: Part, { kinds }: Question): boolean {
  if (kinds !== undefined || part.type === 'notServed') return true;
  const { phase, fault } = part.sync;
  return phase !== 'MISSING' || fault?.code !== 'FORBIDDEN';
}

/** Whose text is made when a cursor is: most pages are not gone on from. */
class RelationScope implements ListScope {
  readonly callerKey: string;
  readonly #from: Row;
  readonly #question: Question;

  constructor({ caller }: ReadContext, from: Row, question: Question) {
    this.callerKey = caller.key;
    this.#from = from;
    this.#question = question;
  }

  get filter(): string {
    const { cluster, kind, object } = this.#from;
    const { namespace = '', name } = object.metadata;
    const id = idOfObject({ cluster: cluster.name, group: kind.group, kind: kind.kind, namespace, name });
    const { kinds } = this.#question;
    return JSON.stringify(['relation', this.#question.name, id, kinds === undefined ? null : [...new Set(kinds.map(keyOfKind))].sort()]);
  }
}
