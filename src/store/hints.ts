import type { Json } from '../core/json.ts';
import type { LabelSelector } from '../core/selectors.ts';
import { isMisfit, type ModelPath, type PathMisfit } from '../model/paths.ts';
import type { IndexLookup } from './mirror-store.ts';
import type { WhereInput } from './where.ts';

/** Something that all objects asked for have in common. */
export type Hint =
  | { readonly by: 'name'; readonly values: readonly string[] }
  | { readonly by: 'namespace'; readonly values: readonly string[] }
  | IndexLookup;

type Find = (text: string) => ModelPath | PathMisfit;

/** What a filter's comparisons by `eq` and `in` say of all objects that pass it. Paths that the kind does not have say nothing. */
export function hintsIn(where: WhereInput, find: Find): readonly Hint[] {
  return [...hintOf(where, find), ...(where.and ?? []).flatMap((inner) => hintsIn(inner, find))];
}

/** What a selector says of all objects that it selects. */
export function hintsOfSelector({ requirements }: LabelSelector): readonly Hint[] {
  return requirements.flatMap((requirement) =>
    requirement.operator === 'in' ? [{ by: 'label', key: requirement.key, values: [...requirement.values] } as const] : [],
  );
}

function hintOf(where: WhereInput, find: Find): readonly Hint[] {
  const values = textsOf(where.eq == null ? where.in : [where.eq]);
  if (where.path == null || values === undefined || values.length === 0) return [];
  const keys = keysOf(where.path, find);
  const [first, second, third] = keys;
  if (first === 'metadata' && keys.length === 2) {
    if (second === 'name' || second === 'namespace') return [{ by: second, values }];
  }
  if (first === 'metadata' && second === 'labels' && third !== undefined) return [{ by: 'label', key: third, values }];
  const [value] = values;
  if (value === undefined || values.length > 1) return [];
  if (first === 'metadata' && second === 'ownerReferences' && third === 'uid') return [{ by: 'owner', uid: value }];
  return first === 'spec' && second === 'nodeName' && keys.length === 2 ? [{ by: 'node', name: value }] : [];
}

function keysOf(text: string, find: Find): readonly string[] {
  const found = find(text);
  return isMisfit(found) || found.from !== 'object' ? [] : found.steps.map(({ key }) => key);
}

function textsOf(values: readonly Json[] | null | undefined): readonly string[] | undefined {
  return values?.every((value) => typeof value === 'string') ? (values as readonly string[]) : undefined;
}
