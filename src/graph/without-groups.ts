import type { Model, ModelKind, ModelType, TypeReference } from '../model/model.ts';

/** The model without the custom kinds of these groups, and without the types that only they need. The model itself if no group is named. */
export function withoutGroups(model: Model, groups: ReadonlySet<string>): Model {
  if (groups.size === 0) return model;
  const kinds = new Map([...model.kinds].filter(([, { group, source }]) => source === 'BUILT_IN' || !groups.has(group)));
  return { kinds, types: typesNeededBy(model, kinds.values()) };
}

function typesNeededBy(model: Model, kinds: Iterable<ModelKind>): ReadonlyMap<string, ModelType> {
  const needed = new Set<string>();
  const waiting = [...kinds].map(({ type }) => type);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (needed.has(name)) continue;
    needed.add(name);
    for (const { type } of model.types.get(name)?.fields ?? []) waiting.push(...namesIn(type));
  }
  return new Map([...model.types].filter(([name]) => needed.has(name)));
}

function namesIn(type: TypeReference): readonly string[] {
  if ('scalar' in type) return [];
  return 'list' in type ? namesIn(type.list) : [type.type];
}
