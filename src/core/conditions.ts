import type { V1Condition, V1ObjectMeta } from '@kubernetes/client-node';
import { itemsOf, type Stored } from './stored.ts';

/** The fields of an object, of any kind, that `conditionOf` and `hasTrueCondition` read. */
type WithConditions = Stored<{ metadata?: V1ObjectMeta; status?: { conditions?: V1Condition[] } }>;

/** Returns the first condition of this type in `status.conditions`, whatever its status. Undefined if there is none. */
export function conditionOf(object: WithConditions | undefined, type: string): Stored<V1Condition> | undefined {
  return itemsOf(object?.status?.conditions).find((condition) => condition.type === type);
}

/** True if a condition of this type in `status.conditions` has the status `True`. */
export function hasTrueCondition(object: WithConditions | undefined, type: string): boolean {
  return itemsOf(object?.status?.conditions).some((condition) => condition.type === type && condition.status === 'True');
}
