import type { Json } from '../../core/json.ts';
import type { LabelSelector } from '../../core/selectors.ts';
import { isMisfit, type ModelPath, type PathMisfit } from '../../model/paths/paths.ts';
import type { IndexLookup } from '../mirror-store.ts';
import type { WhereInput } from './where-input.ts';

/** A property that every object of the result has. An index can find the objects by it. */
export type IndexHint =
  | { readonly by: 'name'; readonly values: readonly string[] }
  | { readonly by: 'namespace'; readonly values: readonly string[] }
  | IndexLookup;

type FindPath = (text: string) => ModelPath | PathMisfit;

/** Returns the hints from a filter's comparisons by `eq` and `in`. Paths that the kind does not have give no hint. */
export function hintsOfWhere(where: WhereInput, find: FindPath): readonly IndexHint[] {
  return [...hintOf(where, find), ...(where.and ?? []).flatMap((inner) => hintsOfWhere(inner, find))];
}

/** Returns one hint for each `in` requirement of a label selector: every selected object has one of the values under the label. */
export function hintsOfSelector({ requirements }: LabelSelector): readonly IndexHint[] {
  return requirements.flatMap((requirement) =>
    requirement.operator === 'in' ? [{ by: 'label', key: requirement.key, values: [...requirement.values] } as const] : [],
  );
}

/**
 * Returns the lookup that finds exactly the objects of the filter, if the filter is one comparison by `eq` that has an index. Undefined for
 * other filters, and for comparisons of the name or the namespace.
 */
export function exactLookupOfWhere(where: WhereInput, find: FindPath): IndexLookup | undefined {
  const members = Object.entries(where).filter(([, value]) => value !== null && value !== undefined);
  // The two members are `path` and `eq`.
  if (members.length !== 2 || where.path == null || where.eq == null) return undefined;
  const [hint] = hintOf(where, find);
  return hint === undefined || hint.by === 'name' || hint.by === 'namespace' ? undefined : hint;
}

/** Returns the lookup that finds exactly the objects of a selector. Undefined unless the selector is one value of one label. */
export function exactLookupOfSelector({ requirements }: LabelSelector): IndexLookup | undefined {
  const [requirement, ...others] = requirements;
  if (requirement?.operator !== 'in' || others.length > 0 || requirement.values.size !== 1) return undefined;
  return { by: 'label', key: requirement.key, values: [...requirement.values] };
}

function hintOf(where: WhereInput, find: FindPath): readonly IndexHint[] {
  const values = textsOf(where.eq == null ? where.in : [where.eq]);
  if (where.path == null || values === undefined || values.length === 0) return [];
  const keys = textKeysOf(where.path, find);
  const [first, second, third] = keys;
  if (first === 'metadata' && keys.length === 2) {
    if (second === 'name' || second === 'namespace') return [{ by: second, values }];
  }
  if (first === 'metadata' && second === 'labels' && third !== undefined) return [{ by: 'label', key: third, values }];
  const [value] = values;
  if (value === undefined || values.length > 1) return [];
  if (first === 'metadata' && second === 'ownerReferences[]' && third === 'uid') return [{ by: 'owner', uid: value }];
  return first === 'spec' && second === 'nodeName' && keys.length === 2 ? [{ by: 'node', name: value }] : [];
}

/**
 * Returns the keys of a path to a `String` value, with `[]` after the keys of lists. Returns no keys for other paths, because indexes hold
 * only text.
 */
function textKeysOf(text: string, find: FindPath): readonly string[] {
  const found = find(text);
  if (isMisfit(found) || found.from !== 'object' || !('scalar' in found.type) || found.type.scalar !== 'String') return [];
  return found.steps.map(({ key, list }) => (list ? `${key}[]` : key));
}

function textsOf(values: readonly Json[] | null | undefined): readonly string[] | undefined {
  return values?.every((value) => typeof value === 'string') ? (values as readonly string[]) : undefined;
}
