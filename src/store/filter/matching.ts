import type { KubernetesObject } from '../../core/objects.ts';
import { type LabelSelector, matchesLabelSelector } from '../../core/selectors.ts';
import type { IndexLookup } from '../mirror-store.ts';
import type { QuerySource } from '../query-source.ts';
import { candidatesIn, visibleNamespaces } from './candidates.ts';
import { exactLookupOfSelector, hintsOfSelector, type IndexHint } from './index-hints.ts';
import type { ReadCost } from './path-values.ts';
import type { CompiledWhere } from './where.ts';

/** What is asked of the objects themselves, wherever they lie. All of it must hold. */
interface ObjectConditions {
  readonly selector?: LabelSelector | undefined;
  readonly where?: CompiledWhere | undefined;
  /** A part of the name, of a label's key or of its value, or of `key=value`, whatever the case. Empty text asks nothing. */
  readonly search?: string | undefined;
  /** What relates them to another object. */
  readonly related?: RelatedCondition | undefined;
}

/** The objects that have to do with another one. */
export interface RelatedCondition {
  /** Each of these finds all of them. */
  readonly hints: readonly IndexHint[];
  includes(object: KubernetesObject): boolean;
}

/** What objects are looked for in one source after the other. */
export interface ListConditions extends ObjectConditions {
  /** Objects in these namespaces only; cluster-scoped ones are in none. Absent: anywhere. */
  readonly namespaces?: readonly string[] | undefined;
}

/** True for the objects of the source that are in sight and meet all conditions. @param read Counts the values that are read of them. */
export function createMatcher(source: QuerySource, conditions: ListConditions, read?: ReadCost): (object: KubernetesObject) => boolean {
  const within = visibleNamespaces(conditions.namespaces, source.visibility);
  const matches = createPredicate(source, conditions, read);
  if (within === undefined) return matches;
  return (object) => within.has(object.metadata.namespace ?? '') && matches(object);
}

/** All objects for which `createMatcher` says true, found by the shortest way there is. In no order. */
export function selectAll(source: QuerySource, conditions: ListConditions): readonly KubernetesObject[] {
  const matches = createPredicate(source, conditions);
  return candidatesFor(source, conditions).flatMap((list) => list.filter(matches));
}

/** Objects in sight among which are all that meet the conditions: lists that stay as they are. */
export function candidatesFor(source: QuerySource, conditions: ListConditions): readonly (readonly KubernetesObject[])[] {
  return candidatesIn(source.store, visibleNamespaces(conditions.namespaces, source.visibility), indexHintsFor(source, conditions));
}

/** What every object that meets the conditions has, so that indexes may find it. */
export function indexHintsFor({ kind }: QuerySource, { where, selector, related }: ObjectConditions): readonly IndexHint[] {
  return [...(related?.hints ?? []), ...(where?.indexHintsFor(kind) ?? []), ...(selector === undefined ? [] : hintsOfSelector(selector))];
}

/** What an index finds that meets the conditions, and nothing that does not, if there is such a thing. */
export function exactLookupFor(
  { kind }: QuerySource,
  { where, selector, search = '', related }: ObjectConditions,
): IndexLookup | undefined {
  const requirements = selector?.requirements.length ?? 0;
  if (search !== '' || related !== undefined) return undefined;
  if (where === undefined) return selector === undefined ? undefined : exactLookupOfSelector(selector);
  return requirements > 0 ? undefined : where.exactLookupFor(kind);
}

/** True for the objects of the source that meet the conditions, wherever they lie. @param read Counts the values that are read of them. */
export function createPredicate(
  source: QuerySource,
  { selector, where, search = '', related }: ObjectConditions,
  read?: ReadCost,
): (object: KubernetesObject) => boolean {
  const asked = where?.predicateFor(source, read);
  const found = search === '' ? undefined : searchFor(search);
  const selects = selector === undefined ? undefined : selectFor(selector, read);
  return (object) =>
    (related === undefined || related.includes(object)) &&
    (selects === undefined || selects(object)) &&
    (asked === undefined || asked(object)) &&
    (found === undefined || found(object));
}

function selectFor(selector: LabelSelector, read: ReadCost | undefined): (object: KubernetesObject) => boolean {
  const { length } = selector.requirements;
  return (object) => {
    if (read !== undefined) read.values += length;
    return matchesLabelSelector(selector, labelsOf(object));
  };
}

/** The text is escaped, so the expression is a plain search without regard to case, which V8 does without making new texts. */
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

/** Its labels, where it has any. */
export function labelsOf({ metadata: { labels } }: KubernetesObject): Readonly<Record<string, string>> | undefined {
  return typeof labels === 'object' && labels !== null ? labels : undefined;
}
