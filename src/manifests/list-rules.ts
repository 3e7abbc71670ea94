import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import type { ListRules, Model, ModelType, TypeReference } from '../model/model.ts';
import type { ListRulesAt } from './merge-patch.ts';

/** Returns the lookup of merge rules for the lists in objects of a kind. */
export type ListRulesOf = (kind: GroupKind) => ListRulesAt;

/**
 * Creates a lookup of merge rules in the model. Kinds and fields that the model does not have get no rules. Each lookup reads the current
 * model, because the model may grow.
 *
 * Two lookups of one kind return the same function as long as the model is the same. So a caller that keeps a result of the rules can tell
 * by the function whether the rules may have changed.
 */
export function listRulesIn(model: () => Model): ListRulesOf {
  const made = new Map<string, ListRulesAt>();
  let madeFor: Model | undefined;
  return (kind) => {
    const current = model();
    if (current !== madeFor) made.clear();
    madeFor = current;
    const key = keyOfKind(kind);
    const rules = made.get(key) ?? rulesOfKind(key, model);
    made.set(key, rules);
    return rules;
  };
}

/** Holds no model, so a caller that keeps the function keeps no old model. */
function rulesOfKind(kind: string, model: () => Model): ListRulesAt {
  return (path) => {
    const { types, kinds } = model();
    const root = kinds.get(kind);
    return root === undefined ? undefined : rulesAt(types, types.get(root.type), path);
  };
}

function rulesAt(types: Model['types'], root: ModelType | undefined, path: readonly string[]): ListRules | undefined {
  let type = root;
  for (const [index, key] of path.entries()) {
    const field = type?.fields.find((one) => one.key === key);
    if (field === undefined) return undefined;
    if (index === path.length - 1) return field;
    type = types.get(itemNameOf(field.type));
  }
  return undefined;
}

/** Returns the name of the object type of a field, or of the items of (nested) lists. Empty for scalars. */
function itemNameOf(reference: TypeReference): string {
  if ('list' in reference) return itemNameOf(reference.list);
  return 'type' in reference ? reference.type : '';
}
