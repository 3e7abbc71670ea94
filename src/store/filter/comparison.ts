import { MusterError } from '../../core/errors.ts';
import { compareOrderKeys, equalJson, type OrderKey, orderKeyOf, type ValueType } from '../../core/json/json-values.ts';
import { isJsonObject, isRawNumber, type Json } from '../../core/json.ts';
import { memoizeByText } from '../../core/memoize-by-text.ts';
import { toNanoUnits } from '../../core/quantities.ts';

export type ValueTest = (value: Json) => boolean;

/** A value test and whether the values are to fail it: `ne` asks that no value equals. */
export interface CompiledComparison {
  readonly test: ValueTest;
  readonly negated: boolean;
  /** How many comparisons a value takes. Default: 1. */
  readonly comparisonCount?: number | undefined;
  /** True if the test reads a text to its end, however long it is. Default: false. */
  readonly scansText?: boolean | undefined;
}

export const comparisonOperators = ['eq', 'ne', 'in', 'lt', 'lte', 'gt', 'gte', 'contains', 'startsWith'] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/** What an operand stands beside: for messages, and to compare by type. */
export interface OperandContext {
  /** As the user wrote it. */
  readonly path: string;
  readonly operator: ComparisonOperator;
  readonly type: ValueType;
  /** Set if there are no other values than these. */
  readonly among?: readonly string[] | undefined;
}

/**
 * One comparison of values of a type with an operand.
 *
 * Exact, by type: quantities and durations by amount, times by instant whatever their zone, integers of any size, text by code units, `JSON` and
 * maps by structure. A value that does not fit its type equals nothing and is neither less nor greater. Of `in` those operands are left out that are
 * not possible, as long as one is.
 *
 * @throws {MusterError} `BAD_INPUT` if the type has no such comparison, or the operand is none of its values.
 */
export function compileComparison(place: OperandContext, operand: Json): CompiledComparison {
  const { operator, type } = place;
  if (!operatorsOf[type].includes(operator)) {
    throw refuse(`expected one of ${operatorsOf[type].join(', ')} or exists on ${place.path}, which is a ${type}, got ${operator}`);
  }
  switch (operator) {
    case 'eq':
      return { test: equals(place, operand), negated: false };
    case 'ne':
      return { test: equals(place, operand), negated: true };
    case 'in':
      return {
        test: isAmong(place, operand),
        negated: false,
        comparisonCount: structural.has(type) && Array.isArray(operand) ? operand.length : 1,
      };
    case 'contains':
    case 'startsWith':
      return { test: compareText(place, operand), negated: false, scansText: operator === 'contains' };
    default:
      return { test: compareOrder(place, operand, operator), negated: false };
  }
}

const equality: readonly ComparisonOperator[] = ['eq', 'ne', 'in'];
const ordered: readonly ComparisonOperator[] = [...equality, 'lt', 'lte', 'gt', 'gte'];

const operatorsOf: Readonly<Record<ValueType, readonly ComparisonOperator[]>> = {
  String: comparisonOperators,
  Bytes: comparisonOperators,
  Boolean: equality,
  Int: ordered,
  Int64: ordered,
  Float: ordered,
  DateTime: ordered,
  Quantity: ordered,
  Duration: ordered,
  IntOrString: comparisonOperators,
  StringMap: equality,
  JSON: comparisonOperators,
};

const structural: ReadonlySet<ValueType> = new Set(['StringMap', 'JSON']);

function equals(place: OperandContext, operand: Json): ValueTest {
  checkOperand(place, operand);
  if (structural.has(place.type)) return (value) => equalJson(value, operand);
  if (place.type === 'String') return (value) => value === operand;
  const key = keyOfOperand(place, operand);
  return (value) => {
    const other = keyOf(value, place.type);
    return other !== undefined && compareOrderKeys(other, key) === 0;
  };
}

function isAmong(place: OperandContext, list: Json): ValueTest {
  if (!Array.isArray(list)) throw refuse(`expected a list for ${place.operator} on ${place.path}, got ${show(list)}`);
  const operands = list.filter((operand: Json) => isPossibleOperand(place, operand));
  if (operands.length === 0) for (const operand of list) throw impossibleOperand(place, operand);
  for (const operand of operands) checkOperand(place, operand);
  if (structural.has(place.type)) return (value) => operands.some((operand: Json) => equalJson(value, operand));
  if (place.type === 'String') {
    const texts = new Set<Json>(operands);
    return (value) => texts.has(value);
  }
  const keys = operands.map((operand: Json) => keyOfOperand(place, operand)).sort(compareOrderKeys);
  return (value) => {
    const key = keyOf(value, place.type);
    return key !== undefined && isIn(keys, key);
  };
}

/** By halving, as a list of a thousand operands meets every object. */
function isIn(sorted: readonly OrderKey[], key: OrderKey): boolean {
  let [low, high] = [0, sorted.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const order = compareOrderKeys(sorted[middle] ?? key, key);
    if (order === 0) return sorted[middle] !== undefined;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

function compareOrder(place: OperandContext, operand: Json, operator: 'lt' | 'lte' | 'gt' | 'gte'): ValueTest {
  checkOperand(place, operand);
  const key = keyOfOperand(place, operand);
  if (key.type === 'list' || key.type === 'map' || key.type === 'boolean') {
    throw refuse(`expected a number or a text for ${operator} on ${place.path}, got ${show(operand)}`);
  }
  const holds = orders[operator];
  return (value) => {
    const other = keyOf(value, place.type);
    return other?.type === key.type && holds(compareOrderKeys(other, key));
  };
}

const orders = {
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
};

function compareText(place: OperandContext, operand: Json): ValueTest {
  if (typeof operand !== 'string') throw refuse(`expected a text for ${place.operator} on ${place.path}, got ${show(operand)}`);
  if (place.operator === 'startsWith') return (value) => typeof value === 'string' && value.startsWith(operand);
  return (value) => typeof value === 'string' && value.includes(operand);
}

/** The operand's key is of the type's own kind: `checkOperand` has seen to it. */
/** As `orderKeyOf`. What costs most to read is read once: a hundred conditions may look at the same value of an object. */
function keyOf(value: Json, type: ValueType): OrderKey | undefined {
  const read = keyReaders[type];
  if (read === undefined) return orderKeyOf(value, type);
  if (typeof value === 'string') return read(value);
  return typeof value === 'number' && type === 'Quantity' ? read(String(value)) : orderKeyOf(value, type);
}

const keyReaders: { readonly [Type in ValueType]?: (text: string) => OrderKey | undefined } = {
  DateTime: memoizeByText((text) => orderKeyOf(text, 'DateTime')),
  Duration: memoizeByText((text) => orderKeyOf(text, 'Duration')),
  Quantity: memoizeByText((text) => {
    const key = orderKeyOf(text, 'Quantity');
    return key?.type === 'quantity' ? { ...key, value: toNanoUnits(key.value) } : key;
  }),
};

function keyOfOperand({ path, operator, type }: OperandContext, operand: Json): OrderKey {
  const key = keyOf(operand, type);
  if (key === undefined) throw refuse(`expected a value for ${operator} on ${path}, got ${show(operand)}`);
  return key;
}

const expected: Readonly<Record<ValueType, string>> = {
  String: 'a text',
  Bytes: 'a text',
  Boolean: 'true or false',
  Int: 'a number',
  Int64: 'a number, or beyond 2^53-1 its digits as text',
  Float: 'a number',
  DateTime: 'a time as RFC 3339 has it, such as "2026-01-31T12:00:00Z"',
  Quantity: 'a quantity, such as "250m" or "1Gi"',
  Duration: 'a duration, such as "90s" or "1h30m"',
  IntOrString: 'a number or a text',
  StringMap: 'a map of texts',
  JSON: 'a value, at most 64 deep',
};

function checkOperand(place: OperandContext, operand: Json): void {
  const { path, operator, type } = place;
  if (equality.includes(operator) && !isPossibleOperand(place, operand)) throw impossibleOperand(place, operand);
  if (!fits(operand, type)) throw refuse(`expected ${expected[type]} for ${operator} on ${path}, which is a ${type}, got ${show(operand)}`);
  // JSON.parse has rounded it already, so it may be another number than the one that was meant.
  if (
    typeof operand === 'number' &&
    Number.isInteger(operand) &&
    !Number.isSafeInteger(operand) &&
    type !== 'Float' &&
    type !== 'Quantity'
  ) {
    throw refuse(`expected an integer beyond 2^53-1 as text for ${operator} on ${path}, got the number ${operand}, which may be rounded`);
  }
}

/** False for what can never be equal to what stands there. */
export function isPossibleOperand({ among }: OperandContext, operand: Json): boolean {
  return among === undefined || (typeof operand === 'string' && among.includes(operand));
}

/** The refusal of what is not possible. */
export function impossibleOperand({ path, operator, among = [] }: OperandContext, operand: Json): MusterError {
  return refuse(`expected one of ${among.join(', ')} for ${operator} on ${path}, got ${show(operand)}`);
}

function fits(operand: Json, type: ValueType): boolean {
  const isNumber = typeof operand === 'number' || isRawNumber(operand);
  switch (type) {
    case 'String':
    case 'Bytes':
      return typeof operand === 'string';
    case 'Boolean':
      return typeof operand === 'boolean';
    case 'Int':
    case 'Float':
      return isNumber;
    case 'Int64':
      return isNumber || orderKeyOf(operand, type)?.type === 'number';
    case 'DateTime':
      return orderKeyOf(operand, type)?.type === 'instant';
    case 'Quantity':
      return orderKeyOf(operand, type)?.type === 'quantity';
    case 'Duration':
      return orderKeyOf(operand, type)?.type === 'duration';
    case 'IntOrString':
      return isNumber || typeof operand === 'string';
    case 'StringMap':
      return isJsonObject(operand) && Object.values(operand).every((value) => typeof value === 'string');
    case 'JSON':
      return operand !== null && isShallow(operand, 64);
    default:
      return type satisfies never;
  }
}

/** What is compared and bound to a cursor is printed too, which recursion does. */
function isShallow(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((member: Json) => isShallow(member, depth - 1));
}

function show(operand: Json): string {
  if (typeof operand === 'object' && operand !== null && !isRawNumber(operand)) return Array.isArray(operand) ? 'a list' : 'a map';
  return (JSON.stringify(operand) ?? 'nothing').slice(0, 80);
}

function refuse(message: string): MusterError {
  return new MusterError('BAD_INPUT', `where: ${message}`);
}
