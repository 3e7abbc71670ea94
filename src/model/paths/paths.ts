import { MusterError } from '../../core/errors.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { nearestWordWithEdits } from '../../core/nearest-word.ts';
import { type Column, columnsOf } from '../columns/columns.ts';
import { clusterPathFields, objectMeta, ownerReference, rollout } from '../hand-written-types.ts';
import { type Model, type ModelField, type ModelKind, type ModelType, printTypeReference, type TypeReference } from '../model.ts';
import { parsePath, printPath } from '../path-text.ts';
import { type PathRelation, pathRelationsOf } from './path-relations.ts';

/** One step of a path: a key of the JSON object that was reached. */
interface PathStep {
  readonly key: string;
  /** True if the value may be a list, also of lists. The walk then continues in each element. If false, an array is the value itself. */
  readonly list: boolean;
}

/** A path whose every step is known to the model. */
export type ModelPath = OwnPath | RelationPath;

/** A path that does not leave the object, except for its cluster. */
type OwnPath = ReadPath | ComputedPath;

/** A path to a stored value. It has at least one step. */
export interface ReadPath extends KnownPath {
  /**
   * The start of the walk: the object, its cluster (for `cluster.region`, without that segment), or the served resource. The resource has
   * `apiVersion` and `kind`, which items of lists lack.
   */
  readonly from: 'object' | 'cluster' | 'served';
}

/** A path that begins at the value of a computed column. Without steps, it is that value. */
interface ComputedPath extends KnownPath {
  readonly from: 'column';
  readonly column: Column;
}

/** A path that begins with a relation and continues in the related object. `steps`, `type` and `many` are about that object. */
interface RelationPath extends KnownPath {
  readonly from: 'relation';
  readonly relation: PathRelation;
  readonly within: OwnPath;
}

interface KnownPath {
  /** The text as the user wrote it. */
  readonly text: string;
  readonly steps: readonly PathStep[];
  /** The type of the value. For a list, the type of its elements. Never a list. */
  readonly type: TypeReference;
  /** True if there may be several values, because a step goes through a list. */
  readonly many: boolean;
}

/**
 * The reason why a kind has no such path. A suggestion costs a thousand times as much as the walk, so suggestions and errors are created
 * only on request. A filter over sixty kinds never needs most of them.
 */
export interface PathMisfit {
  /** The number of segments that were found. */
  readonly depth: number;
  /**
   * Returns the path up to the wrong segment, with a suggestion in place of that segment, and the distance from the text in edits.
   * Undefined without a suggestion.
   */
  meant(): MeantPath | undefined;
  /** Creates the `BAD_INPUT` error, with the wrong part of the path and a suggestion. */
  error(): MusterError;
}

/** The suggestion for a misspelled path. */
export interface MeantPath {
  readonly path: string;
  /**
   * The number of letters to change. 0 if only upper and lower case differ, if the path lacks its first segment, as `name` for
   * `metadata.name`, or if a key with dots lacks its brackets.
   */
  readonly edits: number;
}

/** True for a misfit, and false for a path. */
export function isMisfit(found: ModelPath | PathMisfit): found is PathMisfit {
  return 'meant' in found;
}

/**
 * Looks up a path in a kind. Segments are names of the GraphQL schema, and steps have the keys of the JSON.
 *
 * A path may begin with `cluster`, with a relation to one object or with a computed column. It may go through lists (any element), end in a key
 * of a map, and continue freely in a value of type `JSON`.
 *
 * @returns The path, or the reason why the kind does not have it.
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
 * Looks up a path that begins inside an object, such as the paths of `some` in the elements of a list.
 *
 * @param type The type of the elements: the `type` of the path to the list.
 * @throws {MusterError} `BAD_INPUT` as `findPath` does.
 */
export function findPathFrom(model: Model, type: TypeReference, text: string): ModelPath | PathMisfit {
  return walkFrom({ walk: { model, text, within: printTypeReference(type) }, walked: [], type }, segmentsOf(text));
}

/**
 * The data that all steps of one path share. Messages contain `text`, the path as the user wrote it, and `within`, the kind or type in
 * which it is looked up.
 */
interface Walk {
  readonly model: Model;
  readonly text: string;
  readonly within: string;
}

/**
 * The name for the type of a kind together with `metadata` and its columns. No type of the schema has this name, because a GraphQL name
 * cannot contain a space.
 */
const rootType = 'the object';

const metadataField: ModelField = { name: 'metadata', key: 'metadata', type: { type: objectMeta.name } };
/** The type of an object of unknown kind: the fields that all kinds have. */
const ofAnyKind: ModelType = { name: rootType, fields: [metadataField] };

/** Fields of a `ResourceList` whose keys differ from their names. The numeric fields read the quantity, which compares with numbers too. */
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
  const found = walkFrom({ walk, walked: ['cluster'], type: { type: clusterPathFields.name }, first: clusterPathFields }, segments);
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

/** The object at which a path begins. */
interface PathRoot {
  readonly walk: Walk;
  /** The segments that led to the object. */
  readonly walked: readonly string[];
  readonly root: ModelType;
  readonly columns: readonly Column[];
}

function pathInObject({ walk, walked, root, columns }: PathRoot, segments: readonly string[]): OwnPath | PathMisfit {
  const [first = '', ...rest] = segments;
  if (first === 'apiVersion' || first === 'kind') {
    const found = walkFrom({ walk, walked: [...walked, first], type: { scalar: 'String' } }, rest);
    if (isMisfit(found)) return found;
    return { ...found, from: 'served', steps: [{ key: first, list: false }, ...found.steps] };
  }
  const found = walkFrom({ walk, walked, type: { type: rootType }, first: root }, segments);
  const column = columns.find(({ name }) => name === first);
  return isMisfit(found) || column === undefined ? found : { ...found, from: 'column', column, steps: found.steps.slice(1) };
}

/**
 * Returns the fields with which a path in an object of this kind may begin, as a type: metadata, computed columns and own fields.
 *
 * @param relations Added as fields, only so that an error about an unknown field may suggest them. `resolveThrough` walks relations.
 */
function typeOfKind(model: Model, kind: ModelKind, relations: readonly PathRelation[]): ModelType {
  const own = model.types.get(kind.type)?.fields ?? [];
  const computed = columnsOf(kind).map(({ name, type }): ModelField => ({ name, key: name, type }));
  const related = relations.map(({ name }): ModelField => ({ name, key: name, type: { type: rootType } }));
  return { name: rootType, fields: [metadataField, ...computed, ...own, ...related] };
}

interface WalkStart {
  readonly walk: Walk;
  /** The segments of the path before the type at which the walk starts. Messages need them. */
  readonly walked: readonly string[];
  readonly type: TypeReference;
  /** The fields at the start, for a type that the model does not have. Default: the fields of `type` in the model. */
  readonly first?: ModelType;
}

/** Returns the path of the segments from a type on, or the misfit at the first wrong segment. */
function walkFrom({ walk, walked, type, first }: WalkStart, segments: readonly string[]): ReadPath | PathMisfit {
  const steps: PathStep[] = [];
  let current = type;
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const step = stepInto({ walk, segment, isLast }, current, index === 0 ? first : undefined);
    if ('wrong' in step) {
      return misfitAt({ walk, walked: [...walked, ...segments.slice(0, index)], segment, rest: segments.slice(index + 1) }, step);
    }
    const { element, list } = elementOf(step.type);
    // The schema does not say whether a value inside `JSON` is a list, so the walk may go through one. At the end of the path, an array is
    // a value like any other.
    const free = 'scalar' in element && element.scalar === 'JSON' && !isLast;
    steps.push({ key: step.key, list: list || free });
    current = element;
  }
  return { text: walk.text, from: 'object', steps, type: current, many: steps.some(({ list }) => list) };
}

/** The step to take: from the current type to the field or key that `segment` names. */
interface NextStep {
  readonly walk: Walk;
  readonly segment: string;
  readonly isLast: boolean;
}

/** The result of one step, or the reason why there is none. */
type Step =
  | { readonly key: string; readonly type: TypeReference }
  | { readonly wrong: 'noSuchField'; readonly type: ModelType | undefined }
  | { readonly wrong: 'keyWithDots' }
  | { readonly wrong: 'notAnObject'; readonly scalar: string };

function stepInto(next: NextStep, type: TypeReference, given: ModelType | undefined): Step {
  const { walk, segment, isLast } = next;
  if ('list' in type) return stepInto(next, type.list, given);
  if ('scalar' in type) {
    if (type.scalar === 'JSON') return { key: segment, type };
    if (type.scalar !== 'StringMap') return { wrong: 'notAnObject', scalar: type.scalar };
    if (!isLast) return { wrong: 'keyWithDots' };
    return { key: segment, type: { scalar: 'String' } };
  }
  if (type.type === 'ResourceList') {
    if (!isLast) return { wrong: 'keyWithDots' };
    // A segment in brackets is the key itself, because a map of quantities may have a key with the name of a field.
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

/** Where a walk ended before the end of the path. */
interface EndOfWalk {
  readonly walk: Walk;
  readonly walked: readonly string[];
  readonly segment: string;
  readonly rest: readonly string[];
}

function misfitAt(end: EndOfWalk, step: Exclude<Step, { readonly key: string }>): PathMisfit {
  const { walk, walked, segment } = end;
  const depth = walked.length;
  switch (step.wrong) {
    case 'noSuchField': {
      const meant = () => meantField(end, step.type);
      return { depth, meant, error: () => noSuchField(end, meant()) };
    }
    case 'keyWithDots': {
      const path = () => printPath([...walked, [segment, ...end.rest].join('.')]);
      return { depth, meant: () => ({ path: path(), edits: 0 }), error: () => keyWithDots(walk, path()) };
    }
    case 'notAnObject':
      return { depth, meant: () => undefined, error: () => notAnObject(end, step.scalar) };
    default:
      throw step satisfies never;
  }
}

function meantField(end: EndOfWalk, type: ModelType | undefined): MeantPath | undefined {
  const { walked, segment } = end;
  const near = nearestWordWithEdits(segment, type?.fields.map(({ name }) => name) ?? []);
  if (near !== undefined) return { path: printPath([...walked, near.word]), edits: near.edits };
  const below = oneLevelBelow(end, type);
  return below === undefined ? undefined : { path: below, edits: 0 };
}

function noSuchField({ walk, walked, segment }: EndOfWalk, meant: MeantPath | undefined): MusterError {
  const hint = meant === undefined ? '' : `; did you mean ${meant.path}?`;
  return badPath(`no field ${printPath([...walked, segment.slice(0, 80)])} in ${walk.within}${hint}`);
}

/**
 * Suggests a path one level below, or returns undefined: `name` is often written for `metadata.name`, and `replicas` for `spec.replicas`.
 */
function oneLevelBelow({ walk: { model }, walked, segment }: EndOfWalk, root: ModelType | undefined): string | undefined {
  if (root?.name !== rootType) return undefined;
  const field = root.fields.find(({ type }) => {
    const below = 'type' in type ? (handWritten.get(type.type) ?? model.types.get(type.type)) : undefined;
    return below?.fields.some(({ name }) => name === segment);
  });
  return field === undefined ? undefined : printPath([...walked, field.name, segment]);
}

function keyWithDots({ text, within }: Walk, meant: string): MusterError {
  return badPath(`no field ${text.slice(0, 200)} in ${within}; a key with dots must be in brackets: did you mean ${meant}?`);
}

function notAnObject({ walk, walked, segment }: EndOfWalk, scalar: string): MusterError {
  const path = printPath([...walked, segment.slice(0, 80)]);
  return badPath(`no field ${path} in ${walk.within}: ${printPath(walked) || 'it'} has the type ${scalar}, which has no fields`);
}

function badPath(message: string): MusterError {
  return new MusterError('BAD_INPUT', message);
}
