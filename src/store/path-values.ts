import { isRawNumber, type Json, type JsonObject } from '../core/json.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { ModelPath } from '../model/paths.ts';
import type { QuerySource } from './query-source.ts';

/** What a path may begin at beside the object itself; the same for all objects of a source. */
export interface Surroundings {
  readonly cluster: JsonObject;
  readonly served: JsonObject;
}

/** What surrounds the objects of a source. */
export function surroundingsOf({ cluster, kind, apiVersion }: QuerySource): Surroundings {
  return { cluster: { ...cluster }, served: { apiVersion, kind: kind.kind } };
}

/** Where a walk is: the object, or inside one the element that `some` looks at. */
export interface Place {
  readonly here: KubernetesObject | Json;
  readonly around: Surroundings;
}

/** True if a value at the end of the path passes. What is absent or null is no value; a path through lists may have many. */
export function someValue(path: ModelPath, { here, around }: Place, test: (value: Json) => boolean): boolean {
  return walk(path.from === 'object' ? here : around[path.from], path.steps, { index: 0, test });
}

/** True if an element of a list, also of lists in it, passes; of what is no list, the value itself. */
export function someElement(value: Json, test: (value: Json) => boolean): boolean {
  if (!Array.isArray(value)) return value !== null && test(value);
  // A stack of its own: lists in lists come in any depth.
  const rest: Json[] = [value];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (Array.isArray(next)) for (const element of next) rest.push(element);
    else if (next !== null && test(next)) return true;
  }
  return false;
}

/** The member of that key which the value itself has, never what it inherits. */
export function memberOf(value: Json, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key) || isRawNumber(value))
    return undefined;
  return (value as JsonObject)[key];
}

interface Walk {
  readonly index: number;
  readonly test: (value: Json) => boolean;
}

function walk(value: Json, steps: ModelPath['steps'], { index, test }: Walk): boolean {
  const step = steps[index];
  if (step === undefined) return test(value);
  const member = memberOf(value, step.key);
  if (member === undefined || member === null) return false;
  const onward = { index: index + 1, test };
  if (!step.list) return walk(member, steps, onward);
  return someElement(member, (element) => walk(element, steps, onward));
}
