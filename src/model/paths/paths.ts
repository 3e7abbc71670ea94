import { MusterError } from '../../core/errors.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { nearestWordWithEdits } from '../../core/nearest-word.ts';
import { type Column, columnsOf } from '../columns/columns.ts';
import { clusterPathFields, objectMeta, ownerReference, rollout } from '../hand-written-types.ts';
import { type Model, type ModelField, type ModelKind, type ModelType, printTypeReference, type TypeReference } from '../model.ts';
import { parsePath, printPath } from '../path-text.ts';
import { type PathRelation, pathRelationsOf } from './path-relations.ts';

/** One step of a path: a key of the JSON object that the walk has reached. */
interface PathStep {
  readonly key: string;
  /** The value may be a list, also of lists: the walk goes on from each of its elements. False: an array is the value itself. */
  readonly list: boolean;
}

/** A path whose every step the model knows. */
export type ModelPath = OwnPath | RelationPath;

/** A path that leaves the object for nothing but its cluster. */
type OwnPath = ReadPath | ComputedPath;

/** A path to what is there to be read. At least one step. */
export interface ReadPath extends KnownPath {
  /**
   * Where the walk begins: the object itself; the cluster it lives in (`cluster.region`, without that first segment); or how the object was
   * read, for `apiVersion` and `kind`, which items of lists do not carry.
   */
  readonly from: 'object' | 'cluster' | 'served';
}

/** A path that begins at what a column computes from the object; without any step it is that. */
interface ComputedPath extends KnownPath {
  readonly from: 'column';
  readonly column: Column;
}

/** A path that begins with a relation and goes on in the object that this leads to: `steps`, `type` and `listRelated` are those in there. */
interface RelationPath extends KnownPath {
  readonly from: 'relation';
  readonly relation: PathRelation;
  readonly within: OwnPath;
}

interface KnownPath {
  /** As the user wrote it. */
  readonly text: string;
  readonly steps: readonly PathStep[];
  /** What stands at the end; of a list, what each of its elements is. Never a list. */
  readonly type: TypeReference;
  /** True if there may be several values: some step goes through a list. */
  readonly many: boolean;
}

/**
 * The reason why a kind has no such path. Finding a suggestion costs a thousand times as much as the walk, so the text is made only when it is asked
 * for. For a filter over sixty kinds most of these texts are never needed.
 */
export interface PathMisfit {
  /** How many segments do lead somewhere. */
  readonly depth: number;
  /** The path that was probably meant, up to the segment that was wrong, and how far from it what was written is. */
  meant(): MeantPath | undefined;
  /** `BAD_INPUT`: which part of the path is wrong in this kind, and what was probably meant. */
  error(): MusterError;
}

/** What a misspelt path probably meant. */
export interface MeantPath {
  readonly path: string;
  /** Letters to change; 0 where it is only written otherwise. */
  readonly edits: number;
}

/** Tells a path from why there is none. */
export function isMisfit(found: ModelPath | PathMisfit): found is PathMisfit {
  return 'meant' in found;
}

/**
 * Looks up a path in a kind. Segments are the names of the GraphQL schema, steps carry the keys of the JSON.
 *
 * A path may begin with `cluster`, a relation to one object or a computed column of the kind, go through lists (any element), end in a key of a map, and
 * go on freely where the model says `JSON`.
 *
 * @returns The path, or why the kind has no such path.
 * @throws {MusterError} `BAD_INPUT` if the text is no path in any kind.
 */
export function findPath(model: Model, kind: ModelKind, text: string): ModelPath | PathMisfit {
  const walk: Walk = { model, text, within: kind.kind };
  const [first = '', ...rest] = segmentsOf(text);
  if (first === 'cluster') return resolveInCluster(walk, rest);
  const relations = pathRelationsOf(kind).filter(({ to }) => to === undefined || model.kinds.has(keyOfKind(to)));
  const relation = relations.find(({ name }) => name === first);
  if (relation !== undefined) return resolveThrough(walk, relation, rest);
  return pathInObject({ walk, walked: [], root: typeOfKind(model, kind, relations), columns: columnsOf(kind) }, [first, ...rest]);
}

/**
 * Looks up a path that begins inside an object: what `some` asks of the elements of a list.
 *
 * @param type The type of the elements: the `type` of the path to the list.
 * @throws {MusterError} `BAD_INPUT` as `findPath` does.
 */
export function findPathFrom(model: Model, type: TypeReference, text: string): ModelPath | PathMisfit {
  return walkFrom({ model, text, within: printTypeReference(type) }, [], type, segmentsOf(text));
}

/** What all steps of one path need to know for their messages. */
interface Walk {
  readonly model: Model;
  readonly text: string;
  readonly within: string;
}

/** Stands for the type of the kind with `metadata` and its columns beside its own fields; no GraphQL name holds a space. */
const rootType = 'the object';

const metadataField: ModelField = { name: 'metadata', key: 'metadata', type: { type: objectMeta.name } };
/** Of what can be of any kind: what all kinds have. */
const ofAnyKind: ModelType = { name: rootType, fields: [metadataField] };

/** Names of a `ResourceList` that are not the key itself. Its numbers are read from the quantity, which compares with numbers too. */
const resourceKeys: ReadonlyMap<string, string> = new Map([
  ['ephemeralStorage', 'ephemeral-storage'],
  ['cpuCores', 'cpu'],
  ['memoryBytes', 'memory'],
]);

const handWritten: ReadonlyMap<string, ModelType> = new Map([objectMeta, ownerReference, rollout].map((type) => [type.name, type]));

function segmentsOf(text: string): readonly string[] {
  const segments = parsePath(text);
  if (segments !== undefined) return segments;
  const index = /\[\d+\]/.exec(text);
  const hint = index === null ? '' : `; leave out ${index[0]}: a path through a list matches if any element does`;
  throw badPath(`expected a path such as spec.replicas or metadata.labels["a.b/c"], got ${JSON.stringify(text.slice(0, 80))}${hint}`);
}

function resolveInCluster(walk: Walk, segments: readonly string[]): ModelPath | PathMisfit {
  if (segments.length === 0) {
    throw badPath(`expected a field of the cluster, such as cluster.name or cluster.region, got ${walk.text}`);
  }
  const found = walkFrom(walk, ['cluster'], { type: clusterPathFields.name }, segments, clusterPathFields);
  return isMisfit(found) ? found : { ...found, from: 'cluster' };
}

function resolveThrough(walk: Walk, relation: PathRelation, segments: readonly string[]): RelationPath | PathMisfit {
  const { name, to } = relation;
  if (segments.length === 0) throw badPath(`expected a field of the ${name}, such as ${name}.metadata.name, got ${walk.text}`);
  const kind = to === undefined ? undefined : walk.model.kinds.get(keyOfKind(to));
  const root = kind === undefined ? ofAnyKind : typeOfKind(walk.model, kind, []);
  const within = pathInObject({ walk, walked: [name], root, columns: kind === undefined ? [] : columnsOf(kind) }, segments);
  if (isMisfit(within)) return within;
  const { text, steps, type, many } = within;
  return { text, steps, type, many, from: 'relation', relation, within };
}

/** Where a path begins: at an object. */
interface Beginning {
  readonly walk: Walk;
  /** What led to the object. */
  readonly walked: readonly string[];
  readonly root: ModelType;
  readonly columns: readonly Column[];
}

function pathInObject({ walk, walked, root, columns }: Beginning, segments: readonly string[]): OwnPath | PathMisfit {
  const [first = '', ...rest] = segments;
  if (first === 'apiVersion' || first === 'kind') {
    const found = walkFrom(walk, [...walked, first], { scalar: 'String' }, rest);
    if (isMisfit(found)) return found;
    return { ...found, from: 'served', steps: [{ key: first, list: false }, ...found.steps] };
  }
  const found = walkFrom(walk, walked, { type: rootType }, segments, root);
  const column = columns.find(({ name }) => name === first);
  return isMisfit(found) || column === undefined ? found : { ...found, from: 'column', column, steps: found.steps.slice(1) };
}

/** @param relations What may be meant too, though no walk goes on there. */
function typeOfKind(model: Model, kind: ModelKind, relations: readonly PathRelation[]): ModelType {
  const own = model.types.get(kind.type)?.fields ?? [];
  const computed = columnsOf(kind).map(({ name, type }): ModelField => ({ name, key: name, type }));
  const related = relations.map(({ name }): ModelField => ({ name, key: name, type: { type: rootType } }));
  return { name: rootType, fields: [metadataField, ...computed, ...own, ...related] };
}

/** Walks the segments from a type on; `first` is that type where the model does not hold it. */
function walkFrom(
  walk: Walk,
  walked: readonly string[],
  type: TypeReference,
  segments: readonly string[],
  first?: ModelType,
): ReadPath | PathMisfit {
  const steps: PathStep[] = [];
  let current = type;
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const step = stepInto({ walk, segment, isLast }, current, index === 0 ? first : undefined);
    if ('wrong' in step) {
      return misfitAt({ walk, walked: [...walked, ...segments.slice(0, index)], segment, rest: segments.slice(index + 1) }, step);
    }
    const { element, list } = elementOf(step.type);
    // Nobody knows whether what lies inside JSON is a list; at the end of the path an array there is a value like any other.
    const free = 'scalar' in element && element.scalar === 'JSON' && !isLast;
    steps.push({ key: step.key, list: list || free });
    current = element;
  }
  return { text: walk.text, from: 'object', steps, type: current, many: steps.some(({ list }) => list) };
}

interface Asked {
  readonly walk: Walk;
  readonly segment: string;
  readonly isLast: boolean;
}

/** What one step found, or why there is no such step. */
type Step =
  | { readonly key: string; readonly type: TypeReference }
  | { readonly wrong: 'noSuchField'; readonly type: ModelType | undefined }
  | { readonly wrong: 'keyWithDots' }
  | { readonly wrong: 'notAnObject'; readonly scalar: string };

function stepInto(place: Asked, type: TypeReference, given: ModelType | undefined): Step {
  const { walk, segment, isLast } = place;
  if ('list' in type) return stepInto(place, type.list, given);
  if ('scalar' in type) {
    if (type.scalar === 'JSON') return { key: segment, type };
    if (type.scalar !== 'StringMap') return { wrong: 'notAnObject', scalar: type.scalar };
    if (!isLast) return { wrong: 'keyWithDots' };
    return { key: segment, type: { scalar: 'String' } };
  }
  if (type.type === 'ResourceList') {
    if (!isLast) return { wrong: 'keyWithDots' };
    // In brackets it is the key itself: a map of quantities may have one that is called as the field.
    const isKey = walk.text.endsWith(']');
    return { key: (isKey ? undefined : resourceKeys.get(segment)) ?? segment, type: { scalar: 'Quantity' } };
  }
  const known = given ?? handWritten.get(type.type) ?? walk.model.types.get(type.type);
  return known?.fields.find(({ name }) => name === segment) ?? { wrong: 'noSuchField', type: known };
}

function elementOf(type: TypeReference): { readonly element: TypeReference; readonly list: boolean } {
  if (!('list' in type)) return { element: type, list: false };
  return { element: elementOf(type.list).element, list: true };
}

/** Where a walk ended too early. */
interface Place {
  readonly walk: Walk;
  readonly walked: readonly string[];
  readonly segment: string;
  readonly rest: readonly string[];
}

function misfitAt(place: Place, step: Exclude<Step, { readonly key: string }>): PathMisfit {
  const { walk, walked, segment } = place;
  const depth = walked.length;
  switch (step.wrong) {
    case 'noSuchField': {
      const meant = () => meantField(place, step.type);
      return { depth, meant, error: () => noSuchField(place, meant()) };
    }
    case 'keyWithDots': {
      const path = () => printPath([...walked, [segment, ...place.rest].join('.')]);
      return { depth, meant: () => ({ path: path(), edits: 0 }), error: () => keyWithDots(walk, path()) };
    }
    case 'notAnObject':
      return { depth, meant: () => undefined, error: () => notAnObject(place, step.scalar) };
    default:
      throw step satisfies never;
  }
}

function meantField(place: Place, type: ModelType | undefined): MeantPath | undefined {
  const { walked, segment } = place;
  const near = nearestWordWithEdits(segment, type?.fields.map(({ name }) => name) ?? []);
  if (near !== undefined) return { path: printPath([...walked, near.word]), edits: near.edits };
  const below = oneLevelBelow(place, type);
  return below === undefined ? undefined : { path: below, edits: 0 };
}

function noSuchField({ walk, walked, segment }: Place, meant: MeantPath | undefined): MusterError {
  const hint = meant === undefined ? '' : `; did you mean ${meant.path}?`;
  return badPath(`no field ${printPath([...walked, segment.slice(0, 80)])} in ${walk.within}${hint}`);
}

/** `name` is often written where `metadata.name` is meant, `replicas` for `spec.replicas`. */
function oneLevelBelow({ walk: { model }, walked, segment }: Place, root: ModelType | undefined): string | undefined {
  if (root?.name !== rootType) return undefined;
  const field = root.fields.find(({ type }) => {
    const below = 'type' in type ? (handWritten.get(type.type) ?? model.types.get(type.type)) : undefined;
    return below?.fields.some(({ name }) => name === segment);
  });
  return field === undefined ? undefined : printPath([...walked, field.name, segment]);
}

function keyWithDots({ text, within }: Walk, meant: string): MusterError {
  return badPath(`no field ${text.slice(0, 200)} in ${within}; a key with dots stands in brackets: did you mean ${meant}?`);
}

function notAnObject({ walk, walked, segment }: Place, scalar: string): MusterError {
  const asked = printPath([...walked, segment.slice(0, 80)]);
  return badPath(`no field ${asked} in ${walk.within}: ${printPath(walked) || 'it'} has the type ${scalar}, which has no fields`);
}

function badPath(message: string): MusterError {
  return new MusterError('BAD_INPUT', message);
}
