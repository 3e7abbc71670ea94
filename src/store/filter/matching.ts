import type { KubernetesObject } from '../../core/objects.ts';
import { type LabelSelector, matchesLabelSelector } from '../../core/selectors.ts';
import type { IndexLookup } from '../mirror-store.ts';
import type { QuerySource } from '../query-source.ts';
import { findCandidates, visibleNamespaces } from './candidates.ts';
import { exactLookupOfSelector, hintsOfSelector, type IndexHint } from './index-hints.ts';
import type { ReadCost } from './path-values.ts';
import type { CompiledWhere } from './where.ts';

/** Conditions on an object, whatever its namespace. All must hold. */
interface ObjectConditions {
  readonly selector?: LabelSelector | undefined;
  readonly where?: CompiledWhere | undefined;
  /**
   * Text that occurs in the name, in the key or value of a label, or in `key=value`. Ignores case. An empty text, and undefined, match
   * every object.
   */
  readonly search?: string | undefined;
  /** Only objects that are related to another object. Default: all objects. */
  readonly related?: RelatedCondition | undefined;
}

/** Matches the objects that are related to another object. */
export interface RelatedCondition {
  /** Properties of the related objects, for an index. Any one of these hints alone finds all related objects. */
  readonly hints: readonly IndexHint[];
  includes(object: KubernetesObject): boolean;
}

/** The conditions of a list: which objects, in which namespaces. */
export interface ListConditions extends ObjectConditions {
  /** Only objects in these namespaces, so no cluster-scoped ones. Default: all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
}

/**
 * Returns a function that is true for the visible objects of the source that meet all conditions.
 *
 * @param read Counts the values that are read.
 */
export function createMatcher(source: QuerySource, conditions: ListConditions, read?: ReadCost): (object: KubernetesObject) => boolean {
  const within = visibleNamespaces(conditions.namespaces, source.visibility);
  const matches = createPredicate(source, conditions, read);
  if (within === undefined) return matches;
  return (object) => within.has(object.metadata.namespace ?? '') && matches(object);
}

/** Finds all objects for which `createMatcher` returns true, by the cheapest way, in no order. */
export function findMatching(source: QuerySource, conditions: ListConditions): readonly KubernetesObject[] {
  const matches = createPredicate(source, conditions);
  return findCandidatesFor(source, conditions).flatMap((list) => list.filter(matches));
}

/**
 * Finds candidates: visible objects that may meet the conditions. Every visible object that meets them is a candidate. The lists never
 * change.
 */
export function findCandidatesFor(source: QuerySource, conditions: ListConditions): readonly (readonly KubernetesObject[])[] {
  return findCandidates(source.store, visibleNamespaces(conditions.namespaces, source.visibility), indexHintsFor(source, conditions));
}

/** Returns properties that every matching object has, so that an index can find them. */
export function indexHintsFor({ kind }: QuerySource, { where, selector, related }: ObjectConditions): readonly IndexHint[] {
  return [...(related?.hints ?? []), ...(where?.indexHintsFor(kind) ?? []), ...(selector === undefined ? [] : hintsOfSelector(selector))];
}

/** Returns the index lookup that finds exactly the matching objects. Undefined if there is none. */
export function exactLookupFor(
  { kind }: QuerySource,
  { where, selector, search = '', related }: ObjectConditions,
): IndexLookup | undefined {
  const requirements = selector?.requirements.length ?? 0;
  if (search !== '' || related !== undefined) return undefined;
  if (where === undefined) return selector === undefined ? undefined : exactLookupOfSelector(selector);
  return requirements > 0 ? undefined : where.exactLookupFor(kind);
}

/**
 * Returns a function that is true for the objects of the source that meet the conditions, in any namespace.
 *
 * @param read Counts the values that are read.
 */
export function createPredicate(
  source: QuerySource,
  { selector, where, search = '', related }: ObjectConditions,
  read?: ReadCost,
): (object: KubernetesObject) => boolean {
  const passesWhere = where?.predicateFor(source, read);
  const containsText = search === '' ? undefined : searchFor(search);
  const isSelected = selector === undefined ? undefined : selectFor(selector, read);
  return (object) =>
    (related === undefined || related.includes(object)) &&
    (isSelected === undefined || isSelected(object)) &&
    (passesWhere === undefined || passesWhere(object)) &&
    (containsText === undefined || containsText(object));
}

function selectFor(selector: LabelSelector, read: ReadCost | undefined): (object: KubernetesObject) => boolean {
  const { length } = selector.requirements;
  return (object) => {
    if (read !== undefined) read.values += length;
    return matchesLabelSelector(selector, labelsOf(object));
  };
}

/**
 * Returns a function that is true if the name or a label of the object contains the text. Uses a regular expression, because V8 then
 * ignores case without making new strings.
 */
function searchFor(text: string): (object: KubernetesObject) => boolean {
  const pattern = new RegExp(RegExp.escape(text), 'iu');
  const pairs = text.includes('=');
  return (object) => {
    if (pattern.test(object.metadata.name)) return true;
    const labels = labelsOf(object);
    for (const key in labels) {
      const value = labels[key] ?? '';
      if (pattern.test(key) || pattern.test(value) || (pairs && pattern.test(`${key}=${value}`))) return true;
    }
    return false;
  };
}

/** Returns the labels of an object, or undefined if it has none. */
export function labelsOf({ metadata: { labels } }: KubernetesObject): Readonly<Record<string, string>> | undefined {
  return typeof labels === 'object' && labels !== null ? labels : undefined;
}
