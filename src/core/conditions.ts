import type { V1Condition, V1ObjectMeta } from '@kubernetes/client-node';
import { itemsOf, type Stored } from './stored.ts';

/** Conditions of every kind have these fields. */
type WithConditions = Stored<{ metadata?: V1ObjectMeta; status?: { conditions?: V1Condition[] } }>;

/** The condition of that type in an object's `status.conditions`, whatever it says; of several the first. */
export function conditionOf(object: WithConditions | undefined, type: string): Stored<V1Condition> | undefined {
  return itemsOf(object?.status?.conditions).find((condition) => condition.type === type);
}

/** True if some condition of that type in an object's `status.conditions` says `True`. */
export function hasTrueCondition(object: WithConditions | undefined, type: string): boolean {
  return itemsOf(object?.status?.conditions).some((condition) => condition.type === type && condition.status === 'True');
}
