import { isRawNumber, type Json, type JsonObject } from '../../core/json.ts';
import { isKubernetesObject, type KubernetesObject } from '../../core/objects.ts';
import type { Column } from '../../model/columns/columns.ts';
import type { ModelPath } from '../../model/paths/paths.ts';
import type { QuerySource, RelatedObjects } from '../query-source.ts';

/**
 * The inputs of a path other than the object. `cluster`, `served` and `related` are the starts of paths that do not begin at the object.
 * `computed` caches columns, and `read` counts. One context serves all objects of a source.
 */
interface PathContext {
  readonly cluster: JsonObject;
  readonly served: JsonObject;
  readonly related?: RelatedObjects | undefined;
  readonly computed: ComputedColumns;
  readonly read: ReadCost;
}

/** The number of values read so far. A long text counts as several values. This is the cost of a scan. */
export interface ReadCost {
  values: number;
  /** Set while a filter may be interrupted between two long texts. */
  texts?: TextTester | undefined;
}

/** Tests values, and may remember the results for long texts. */
export interface TextTester {
  /**
   * True if the value passes the test.
   *
   * @throws An internal error that interrupts the filter before the next long text.
   */
  passes(test: (value: Json) => boolean, value: Json): boolean;
}

/** The last value of each computed column, because many conditions on one column read the same object. */
type ComputedColumns = Map<Column, { readonly of: KubernetesObject; readonly value: Json | undefined }>;

/**
 * Makes the context for paths of one source's objects.
 *
 * @param read Counts the values that are read.
 */
export function createPathContext({ cluster, kind, apiVersion, related }: QuerySource, read: ReadCost = { values: 0 }): PathContext {
  return { cluster: { ...cluster }, served: { apiVersion, kind: kind.kind }, related, computed: new Map(), read };
}

/** Where a path starts: at an object, or inside `some` at an element of a list. */
export interface PathStart {
  readonly value: KubernetesObject | Json;
  readonly context: PathContext;
}

/**
 * True if a value at the end of the path passes the test. Absent and null values do not count. A path through lists may have many values.
 */
export function hasMatchingValue(path: ModelPath, from: PathStart, test: (value: Json) => boolean): boolean {
  const start = path.from === 'object' ? from.value : startOf(path, from);
  const { context } = from;
  context.read.values += 1;
  return start !== undefined && start !== null && walk(start, { steps: path.steps, test, read: context.read }, 0);
}

/** Computing a column, or following a relation, takes as long as reading this many values. */
const valuesPerObject = 8;

/** Comparing 512 characters takes as long as comparing one short value. This is the binary logarithm of 512. */
const charsPerValue = 9;

function startOf(path: ModelPath, { value, context }: PathStart): Json | undefined {
  if (path.from === 'object') return value;
  if (path.from === 'column') return isKubernetesObject(value) ? computedBy(path.column, value, context) : undefined;
  if (path.from !== 'relation') return context[path.from];
  context.read.values += valuesPerObject;
  const found = isKubernetesObject(value) ? context.related?.find(path.relation, value) : undefined;
  return found && startOf(path.within, { value: found.object, context: { ...context, served: found.servedAs, related: undefined } });
}

function computedBy(column: Column, object: KubernetesObject, { computed, read }: PathContext): Json | undefined {
  const last = computed.get(column);
  if (last?.of === object) return last.value;
  read.values += valuesPerObject;
  const value = column.get(object);
  computed.set(column, { of: object, value });
  return value;
}

/** True if an element of the list, or of the lists in it, passes the test. A value that is not a list counts as its only element. */
export function hasMatchingElement(value: Json, test: (value: Json) => boolean): boolean {
  if (!Array.isArray(value)) return value !== null && test(value);
  // An explicit stack, because lists can be nested to any depth.
  const rest: Json[] = [value];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (Array.isArray(next)) for (const element of next) rest.push(element);
    else if (next !== null && test(next)) return true;
  }
  return false;
}

/** The keys that every JavaScript object inherits, such as `constructor`. */
const inheritedKeys: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Returns an own member of a value, never an inherited one. Undefined if the value does not have it. */
function ownMemberOf(value: Json, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // `Object.hasOwn` takes as long as reading the member, so other keys are not tested.
  if (inheritedKeys.has(key) && !Object.hasOwn(value, key)) return undefined;
  // The `rawJSON` of a raw number is not a member of the document. A raw number has no other key.
  if (key === 'rawJSON' && isRawNumber(value)) return undefined;
  return (value as JsonObject)[key];
}

interface Walk {
  readonly steps: ModelPath['steps'];
  readonly test: (value: Json) => boolean;
  readonly read: ReadCost;
}

/**
 * True if a value at the end of the steps passes the test. A loop without allocations, because it runs once for each condition and object.
 */
function walk(from: Json, options: Walk, start: number): boolean {
  const { steps, test, read } = options;
  let value = from;
  for (let index = start; index < steps.length; index++) {
    const step = steps[index];
    const member = step === undefined ? undefined : ownMemberOf(value, step.key);
    if (step === undefined || member === undefined || member === null) return false;
    if (step.list) {
      if (Array.isArray(member)) return walkElements(member, options, index + 1);
      read.values += 1;
    }
    value = member;
  }
  if (typeof value === 'string') read.values += value.length >> charsPerValue;
  return test(value);
}

/** True if an element of the list, or of the lists in it, has a value that passes the test at the end of the steps from `start` on. */
function walkElements(list: readonly Json[], options: Walk, start: number): boolean {
  const passes = (element: Json): boolean => {
    options.read.values += 1;
    return walk(element, options, start);
  };
  // Almost no list contains lists, so their elements are walked without the stack of `hasMatchingElement`.
  for (const element of list)
    if (Array.isArray(element) ? hasMatchingElement(element, passes) : element !== null && passes(element)) return true;
  return false;
}
