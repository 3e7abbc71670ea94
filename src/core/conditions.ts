import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { listAt, textAt } from './json-at.ts';

/** The condition of that type in an object's `status.conditions`, whatever it says; of several the first. */
export function conditionOf(object: Json | undefined, type: string): JsonObject | undefined {
  return listAt(object, 'status', 'conditions').find(
    (condition): condition is JsonObject => isJsonObject(condition) && textAt(condition, 'type') === type,
  );
}

/** True if some condition of that type in an object's `status.conditions` says `True`. */
export function holdsCondition(object: Json | undefined, type: string): boolean {
  return listAt(object, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === type && textAt(condition, 'status') === 'True',
  );
}
