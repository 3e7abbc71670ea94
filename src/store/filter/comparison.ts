import { MusterError } from '../../core/errors.ts';
import { compareOrderKeys, equalJson, type OrderKey, orderKeyOf, type ValueType } from '../../core/json/json-values.ts';
import { isJsonObject, isRawNumber, type Json } from '../../core/json.ts';
import { memoizeByText } from '../../core/memoize-by-text.ts';
import { toNanoUnits } from '../../core/quantities.ts';

export type ValueTest = (value: Json) => boolean;

/**
 * A test of one value. The comparison holds if at least one value at the path passes the test. If `negated` is true, it holds if no value
 * passes, as for `ne`.
 */
export interface CompiledComparison {
  readonly test: ValueTest;
  readonly negated: boolean;
  /** Number of comparisons per value. Default: 1. */
  readonly comparisonCount?: number | undefined;
  /** True if the test reads a text to its end, whatever its length. Default: false. */
  readonly scansText?: boolean | undefined;
}

export const comparisonOperators = ['eq', 'ne', 'in', 'lt', 'lte', 'gt', 'gte', 'contains', 'startsWith'] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/** The path, the operator and the value type of an operand. They decide the comparison, and messages name them. */
export interface OperandContext {
  /** The path as the user wrote it. */
  readonly path: string;
  readonly operator: ComparisonOperator;
  readonly type: ValueType;
  /** The only possible values. Undefined: any value. */
  readonly among?: readonly string[] | undefined;
}

/**
 * Compiles the comparison of a path's values with an operand.
 *
 * Comparisons are exact for each type: quantities and durations by amount, times by instant in any zone, integers of any size, text by code
 * units, `JSON` and maps by structure. A value of another type equals nothing, and is neither less nor greater.
 *
 * Operands of `in` that no value at the path can equal are ignored, if at least one other operand is possible.
 *
 * @throws {MusterError} `BAD_INPUT` if the type has no such comparison, or if the operand is not a value of the type.
 */
export function compileComparison(context: OperandContext, operand: Json): CompiledComparison {
  const { operator, type } = context;
  if (!operatorsOf[type].includes(operator)) {
    throw refuse(`expected one of ${operatorsOf[type].join(', ')} or exists on ${context.path}, which is a ${type}, got ${operator}`);
  }
  switch (operator) {
    case 'eq':
      return { test: equals(context, operand), negated: false };
    case 'ne':
      return { test: equals(context, operand), negated: true };
    case 'in':
      return {
        test: isAmong(context, operand),
        negated: false,
        comparisonCount: structural.has(type) && Array.isArray(operand) ? operand.length : 1,
      };
    case 'contains':
    case 'startsWith':
      return { test: compareText(context, operand), negated: false, scansText: operator === 'contains' };
    default:
      return { test: compareOrder(context, operand, operator), negated: false };
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

function equals(context: OperandContext, operand: Json): ValueTest {
  checkOperand(context, operand);
  if (structural.has(context.type)) return (value) => equalJson(value, operand);
  if (context.type === 'String') return (value) => value === operand;
  const key = keyOfOperand(context, operand);
  return (value) => {
    const other = keyOf(value, context.type);
    return other !== undefined && compareOrderKeys(other, key) === 0;
  };
}

function isAmong(context: OperandContext, list: Json): ValueTest {
  if (!Array.isArray(list)) throw refuse(`expected a list for ${context.operator} on ${context.path}, got ${show(list)}`);
  const operands = list.filter((operand: Json) => isPossibleOperand(context, operand));
  if (operands.length === 0) for (const operand of list) throw impossibleOperand(context, operand);
  for (const operand of operands) checkOperand(context, operand);
  if (structural.has(context.type)) return (value) => operands.some((operand: Json) => equalJson(value, operand));
  if (context.type === 'String') {
    const texts = new Set<Json>(operands);
    return (value) => texts.has(value);
  }
  const keys = operands.map((operand: Json) => keyOfOperand(context, operand)).sort(compareOrderKeys);
  return (value) => {
    const key = keyOf(value, context.type);
    return key !== undefined && isIn(keys, key);
  };
}

/** True if the sorted keys contain this key. A binary search, because the list may have 1,000 keys and is searched for every object. */
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

function compareOrder(context: OperandContext, operand: Json, operator: 'lt' | 'lte' | 'gt' | 'gte'): ValueTest {
  checkOperand(context, operand);
  const key = keyOfOperand(context, operand);
  if (key.type === 'list' || key.type === 'map' || key.type === 'boolean') {
    throw refuse(`expected a number or a text for ${operator} on ${context.path}, got ${show(operand)}`);
  }
  const holds = orders[operator];
  return (value) => {
    const other = keyOf(value, context.type);
    return other?.type === key.type && holds(compareOrderKeys(other, key));
  };
}

const orders = {
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
};

function compareText(context: OperandContext, operand: Json): ValueTest {
  if (typeof operand !== 'string') throw refuse(`expected a text for ${context.operator} on ${context.path}, got ${show(operand)}`);
  if (context.operator === 'startsWith') return (value) => typeof value === 'string' && value.startsWith(operand);
  return (value) => typeof value === 'string' && value.includes(operand);
}

/**
 * Returns the key of `orderKeyOf`, by which values compare. Undefined for a value that has no key of this type. Caches the keys of costly
 * texts, because 100 conditions may read the same value of an object.
 */
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
  DateTime: 'an RFC 3339 time, such as "2026-01-31T12:00:00Z"',
  Quantity: 'a quantity, such as "250m" or "1Gi"',
  Duration: 'a duration, such as "90s" or "1h30m"',
  IntOrString: 'a number or a text',
  StringMap: 'a map of texts',
  JSON: 'a value, at most 64 deep',
};

function checkOperand(context: OperandContext, operand: Json): void {
  const { path, operator, type } = context;
  if (equality.includes(operator) && !isPossibleOperand(context, operand)) throw impossibleOperand(context, operand);
  if (!fits(operand, type)) throw refuse(`expected ${expected[type]} for ${operator} on ${path}, which is a ${type}, got ${show(operand)}`);
  // JSON.parse has rounded the number already, so it may differ from the number that the client sent.
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

/** False for an operand that no value at this path can equal. */
export function isPossibleOperand({ among }: OperandContext, operand: Json): boolean {
  return among === undefined || (typeof operand === 'string' && among.includes(operand));
}

/** Returns the error for an impossible operand. */
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

/** True if the value has at most `depth` levels. Deeper operands are refused, because cursors print operands by recursion. */
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
