import { isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import { isKubernetesObject, type KubernetesObject } from '../../core/objects.ts';
import type { Column } from '../../model/columns/columns.ts';
import type { ModelPath } from '../../model/paths/paths.ts';
import type { QuerySource, RelatedObjects } from '../query-source.ts';

/** What a path may begin at beside the object itself; the same for all objects of a source. */
interface PathContext {
  readonly cluster: JsonObject;
  readonly served: JsonObject;
  readonly related?: RelatedObjects | undefined;
  readonly computed: ComputedColumns;
  readonly read: ReadCost;
}

/** How many values were read so far, a long text as several: what a scan costs. */
export interface ReadCost {
  values: number;
  /** Set while a filter may be interrupted between two long texts. */
  texts?: TextTests | undefined;
}

/** Tests values, and may remember its results for long texts. */
export interface TextTests {
  /** @throws To interrupt the filter before another long text. */
  passes(test: (value: Json) => boolean, value: Json): boolean;
}

/** What columns computed last: many conditions on one column look at the same object one after the other. */
type ComputedColumns = Map<Column, { readonly of: KubernetesObject; readonly value: Json | undefined }>;

/** What surrounds the objects of a source. @param read Counts the values that are read of them. */
export function createPathContext({ cluster, kind, apiVersion, related }: QuerySource, read: ReadCost = { values: 0 }): PathContext {
  return { cluster: { ...cluster }, served: { apiVersion, kind: kind.kind }, related, computed: new Map(), read };
}

/** Where a walk is: the object, or inside one the element that `some` looks at. */
export interface PathStart {
  readonly value: KubernetesObject | Json;
  readonly context: PathContext;
}

/** True if a value at the end of the path passes. What is absent or null is no value; a path through lists may have many. */
export function someValue(path: ModelPath, { value: here, context: around }: PathStart, test: (value: Json) => boolean): boolean {
  const start = startOf(path, { value: here, context: around });
  around.read.values += 1;
  return start !== undefined && start !== null && walk(start, { steps: path.steps, test, read: around.read }, 0);
}

/** To compute a column, or to follow a relation, takes as long as to read so many values. */
const valuesPerObject = 8;

/** Characters of a text, as a power of two, that take as long to compare as a short value. */
const charsPerValue = 9;

function startOf(path: ModelPath, { value: here, context: around }: PathStart): Json | undefined {
  if (path.from === 'object') return here;
  if (path.from === 'column') return isKubernetesObject(here) ? computedBy(path.column, here, around) : undefined;
  if (path.from !== 'relation') return around[path.from];
  around.read.values += valuesPerObject;
  const found = isKubernetesObject(here) ? around.related?.find(path.relation, here) : undefined;
  return found && startOf(path.within, { value: found.object, context: { ...around, served: found.servedAs, related: undefined } });
}

function computedBy(column: Column, object: KubernetesObject, { computed, read }: PathContext): Json | undefined {
  const last = computed.get(column);
  if (last?.of === object) return last.value;
  read.values += valuesPerObject;
  const value = column.get(object);
  computed.set(column, { of: object, value });
  return value;
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
function ownMemberOf(value: Json, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return undefined;
  // What a raw number holds is no member; it has no other key than this, so no other one needs to be asked for.
  if (key === 'rawJSON' && isRawNumber(value)) return undefined;
  return (value as JsonObject)[key];
}

interface Walk {
  readonly steps: ModelPath['steps'];
  readonly test: (value: Json) => boolean;
  readonly read: ReadCost;
}

/** In a loop, and of its own making nothing: it runs once for each condition and object. */
function walk(from: Json, way: Walk, start: number): boolean {
  const { steps, test, read } = way;
  let value = from;
  for (let index = start; index < steps.length; index++) {
    const step = steps[index];
    const member = step === undefined ? undefined : ownMemberOf(value, step.key);
    if (step === undefined || member === undefined || member === null) return false;
    if (step.list) {
      return someElement(member, (element) => {
        read.values += 1;
        return walk(element, way, index + 1);
      });
    }
    value = member;
  }
  if (typeof value === 'string') read.values += value.length >> charsPerValue;
  return test(value);
}
