import type { Json } from '../../core/json.ts';
import type { LabelSelector } from '../../core/selectors.ts';
import { isMisfit, type ModelPath, type PathMisfit } from '../../model/paths/paths.ts';
import type { IndexLookup } from '../mirror-store.ts';
import type { WhereInput } from './where-input.ts';

/** Something that all objects asked for have in common. */
export type IndexHint =
  | { readonly by: 'name'; readonly values: readonly string[] }
  | { readonly by: 'namespace'; readonly values: readonly string[] }
  | IndexLookup;

type Find = (text: string) => ModelPath | PathMisfit;

/** What a filter's comparisons by `eq` and `in` say of all objects that pass it. Paths that the kind does not have say nothing. */
export function hintsOfWhere(where: WhereInput, find: Find): readonly IndexHint[] {
  return [...hintOf(where, find), ...(where.and ?? []).flatMap((inner) => hintsOfWhere(inner, find))];
}

/** What a selector says of all objects that it selects. */
export function hintsOfSelector({ requirements }: LabelSelector): readonly IndexHint[] {
  return requirements.flatMap((requirement) =>
    requirement.operator === 'in' ? [{ by: 'label', key: requirement.key, values: [...requirement.values] } as const] : [],
  );
}

/** What finds all that passes and nothing else: of a filter that is one comparison by `eq`, if there is an index for it. */
export function exactLookupOfWhere(where: WhereInput, find: Find): IndexLookup | undefined {
  const said = Object.entries(where).filter(([, value]) => value !== null && value !== undefined);
  if (said.length !== 2 || where.path == null || where.eq == null) return undefined;
  const [hint] = hintOf(where, find);
  return hint === undefined || hint.by === 'name' || hint.by === 'namespace' ? undefined : hint;
}

/** As `exactLookupOfWhere`, of a selector that asks for one value of one label. */
export function exactLookupOfSelector({ requirements }: LabelSelector): IndexLookup | undefined {
  const [requirement, ...others] = requirements;
  if (requirement?.operator !== 'in' || others.length > 0 || requirement.values.size !== 1) return undefined;
  return { by: 'label', key: requirement.key, values: [...requirement.values] };
}

function hintOf(where: WhereInput, find: Find): readonly IndexHint[] {
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

/** The keys to what is compared as the text that it is, as no index knows of other types; with brackets at those of lists. None to anything else. */
function textKeysOf(text: string, find: Find): readonly string[] {
  const found = find(text);
  if (isMisfit(found) || found.from !== 'object' || !('scalar' in found.type) || found.type.scalar !== 'String') return [];
  return found.steps.map(({ key, list }) => (list ? `${key}[]` : key));
}

function textsOf(values: readonly Json[] | null | undefined): readonly string[] | undefined {
  return values?.every((value) => typeof value === 'string') ? (values as readonly string[]) : undefined;
}
