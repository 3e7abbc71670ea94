import { boundedList } from '../../core/bounded-list.ts';
import { MusterError } from '../../core/errors.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import { type LabelSelector, parseLabelSelector } from '../../core/selectors.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import { parsePath } from '../../model/path-text.ts';
import { mayBeginWithRelation, type PathRelation, pathRelationsOf } from '../../model/paths/path-relations.ts';
import { findPath, isMisfit } from '../../model/paths/paths.ts';
import { type CompiledWhere, compileWhere } from '../../store/filter/where.ts';
import { canonicalFilter } from '../../store/query/cursor.ts';
import { type CompiledOrder, compileOrder } from '../../store/query/order.ts';
import type { ListArguments, WhereInput } from './reads.ts';

/** The checked arguments of a list field. */
export interface CheckedArguments {
  readonly clusters: readonly string[] | undefined;
  readonly namespaces: readonly string[] | undefined;
  readonly selector: LabelSelector | undefined;
  readonly where: CompiledWhere | undefined;
  readonly search: string | undefined;
  readonly order: CompiledOrder | undefined;
  readonly first: number;
  readonly after: string | undefined;
  readonly waitMs: number;
  /** A text that cursors are bound to. It is equal for arguments with the same objects in the same order, whatever the page. */
  readonly filter: string;
  readonly relations: RelationsByKind;
}

/** The relations that paths begin with, by the kind that the paths start at. Empty if no path begins with a relation. */
export type RelationsByKind = ReadonlyMap<ModelKind, readonly PathRelation[]>;

const defaultFirst = 100;
const maxFirst = 500;
const defaultWaitSeconds = 10;
const maxWaitSeconds = 60;
const maxSearchLength = 256;

/** The milliseconds that a field for one object waits for a first list. The field has no argument for it. */
export const objectWaitMs = defaultWaitSeconds * 1_000;

/** The kinds against which arguments are checked. */
export interface CheckedKinds {
  readonly model: Model;
  readonly kinds: readonly ModelKind[];
  readonly sensitive: SensitiveKinds;
}

/**
 * Checks all arguments before anything is requested or waited for. Undefined and null mean the default.
 *
 * @throws {MusterError} `BAD_INPUT`. The message names the expected and the given value.
 */
export function checkArguments(args: ListArguments, listed: CheckedKinds): CheckedArguments {
  const { model, kinds } = listed;
  const selector = args.labels == null ? undefined : parseLabelSelector(args.labels);
  const order = args.orderBy == null ? undefined : compileOrder(model, kinds, args.orderBy);
  const checked = {
    clusters: boundedList('clusters', args.clusters) ?? undefined,
    namespaces: args.namespaces == null ? undefined : [...new Set(boundedList('namespaces', args.namespaces))].sort(),
    selector,
    where: args.where == null ? undefined : compileWhere(model, kinds, args.where),
    search: checkSearch(args.search),
    order,
    first: checkFirst(args.first, defaultFirst),
    after: args.after ?? undefined,
    waitMs: checkWaitSeconds(args.waitSeconds) * 1_000,
    filter: canonicalFilter({ ...args, kinds: kinds.map(keyOfKind), selector, orderMeaning: order?.meaning }),
  };
  // Paths are checked last, after their number and length were bounded.
  const paths = [...pathsIn(args.where), ...(args.orderBy ?? []).map(({ path }) => path)];
  refuseHiddenValues(paths, listed);
  return { ...checked, relations: relationsOfPaths(paths, listed) };
}

/**
 * Returns the maximum number of objects on a page.
 *
 * @param absent The default of the field.
 * @throws {MusterError} `BAD_INPUT` unless `first` is from 1 to 500.
 */
export function checkFirst(first: number | null | undefined, absent: number): number {
  if (first == null) return absent;
  if (Number.isInteger(first) && first >= 1 && first <= maxFirst) return first;
  throw new MusterError('BAD_INPUT', `expected first from 1 to ${maxFirst}, got ${first}`);
}

function checkWaitSeconds(waitSeconds: number | null | undefined): number {
  if (waitSeconds == null) return defaultWaitSeconds;
  if (waitSeconds >= 0 && waitSeconds <= maxWaitSeconds) return waitSeconds;
  throw new MusterError('BAD_INPUT', `expected waitSeconds from 0 to ${maxWaitSeconds}, got ${waitSeconds}`);
}

function checkSearch(search: string | null | undefined): string | undefined {
  if (search == null || search === '') return undefined;
  if (search.length <= maxSearchLength) return search;
  throw new MusterError('BAD_INPUT', `expected at most ${maxSearchLength} characters to search for, got ${search.length}`);
}

const metadataRoots: ReadonlySet<string> = new Set(['metadata', 'cluster', 'kind', 'apiVersion', 'owner']);

/**
 * Refuses paths to values of a sensitive kind. Mirrors hold only its metadata, so a filter on values would silently find nothing. If other kinds
 * are listed too, a path that the sensitive kind does not have is allowed.
 *
 * @throws {MusterError} `BAD_INPUT`. The message names the path and the kind.
 */
export function refuseHiddenValues(paths: readonly string[], { model, kinds, sensitive }: CheckedKinds): void {
  const guarded = kinds.filter((kind) => sensitive.has(kind));
  if (guarded.length === 0) return;
  const alone = guarded.length === kinds.length;
  for (const path of new Set(paths)) {
    if (metadataRoots.has(parsePath(path)?.[0] ?? '')) continue;
    const kind = alone ? guarded[0] : guarded.find((one) => !isMisfit(findPath(model, one, path)));
    if (kind === undefined) continue;
    const advice = alone ? '' : `; or kinds without ${keyOfKind(kind)}`;
    throw onlyMetadataHeld(path, kind, advice);
  }
}

function onlyMetadataHeld(path: string, kind: GroupKind, advice: string): MusterError {
  return new MusterError(
    'BAD_INPUT',
    `expected a path in metadata or cluster, because only the metadata of ${keyOfKind(kind)} is mirrored, got ${path.slice(0, 80)}${advice}`,
  );
}

const none: RelationsByKind = new Map();

/**
 * Returns the relations that these paths begin with.
 *
 * @throws {MusterError} `BAD_INPUT` for a path to hidden values of a sensitive kind.
 */
export function relationsOfPaths(paths: readonly string[], { kinds, sensitive }: CheckedKinds): RelationsByKind {
  const candidates = paths.filter(mayBeginWithRelation);
  if (candidates.length === 0) return none;
  const begun = new Map(candidates.map((path) => [path, parsePath(path) ?? []]));
  const beginsWith = ({ name }: PathRelation) => [...begun.values()].some(([first]) => first === name);
  const found = kinds.map((kind) => [kind, pathRelationsOf(kind).filter(beginsWith)] as const);
  const relations = new Map(found.filter(([, ofKind]) => ofKind.length > 0));
  for (const { name, to } of new Set([...relations.values()].flat())) {
    if (to === undefined || !sensitive.has(to)) continue;
    for (const [path, [first, second = '']] of begun)
      if (first === name && !metadataRoots.has(second)) throw onlyMetadataHeld(path, to, '');
  }
  return relations;
}

/** Joins the relations of two maps. */
export function mergeRelations(some: RelationsByKind, others: RelationsByKind = none): RelationsByKind {
  if (others.size === 0) return some;
  return new Map([...some, ...[...others].map(([kind, ofKind]) => [kind, [...new Set([...(some.get(kind) ?? []), ...ofKind])]] as const)]);
}

/**
 * Returns the paths of a filter that begin at the listed object. Paths inside `some` begin at an element of a list and are left out. A loop
 * replaces recursion, because this function does not check the depth of the filter.
 */
function pathsIn(where: WhereInput | null | undefined): readonly string[] {
  const paths: string[] = [];
  const waiting = [where];
  while (waiting.length > 0) {
    const level = waiting.pop();
    if (level == null) continue;
    if (level.path != null) paths.push(level.path);
    for (const inner of [level.and ?? [], level.or ?? [], level.not].flat()) waiting.push(inner);
  }
  return paths;
}
