import { type GraphQLFieldResolver, type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import { invariant } from '../../core/errors.ts';
import { isJsonObject, isRawNumber, type Json } from '../../core/json.ts';
import type { StoredFit } from '../../execution/known-resolvers.ts';
import type { Row } from '../../load/reads/reads.ts';
import type { ScalarName, TypeReference } from '../../model/model.ts';
import { printTypeReference } from '../../model/model.ts';
import type { GraphContext } from '../context/context.ts';

/** A resolver of a field whose value is read from an object of a cluster. */
export type StoredResolver<Source> = GraphQLFieldResolver<Source, GraphContext>;

/**
 * Returns a resolver for the value that `read` finds, without the parts that do not fit the type of the field.
 *
 * A cluster may hold objects that were stored before their definition was tightened. A value of another type is null. List items and map
 * entries of another type are left out. Each of them is reported as a `MISFIT` fault, without the value.
 */
export function resolveStored<Source>(type: TypeReference, read: StoredResolver<Source>): StoredResolver<Source> {
  const fits = fitOf(type);
  return (source, args, context, info) => {
    const value = read(source, args, context, info);
    if (value === undefined || value === null || fits(value)) return value;
    return fittingPart(type, value as Json, { at: [], report: (expected, at) => reportMisfit(expected, at, context, info) });
  };
}

/**
 * Remembers that the fields of this row are resolved next. A fault of one of these fields can then name the cluster and the kind of the
 * row.
 */
export function enterRow(row: Row, context: GraphContext, { path: { prev: path } }: GraphQLResolveInfo): void {
  const last = entered.get(context);
  if (last !== undefined && last.path === path) return;
  let outer = last;
  while (outer !== undefined && !isWithin(path, outer.path)) outer = outer.outer;
  entered.set(context, { row, path, outer });
}

type Path = GraphQLResolveInfo['path'];

/** A row with its path in the answer, and the outer row whose fields lead to it. */
interface EnteredRow {
  readonly row: Row;
  readonly path: Path | undefined;
  readonly outer: EnteredRow | undefined;
}

/** The row entered last, by operation. graphql-js resolves everything below a row at once, unless a promise is in between. */
const entered = new WeakMap<GraphContext, EnteredRow>();

function isWithin(path: Path | undefined, outer: Path | undefined): boolean {
  for (let current = path; current !== undefined; current = current.prev) if (current === outer) return true;
  return false;
}

function rowAround(context: GraphContext, path: Path): Row {
  let found = entered.get(context);
  while (found !== undefined && !isWithin(path, found.path)) found = found.outer;
  invariant(found !== undefined, 'a stored value is read below its row');
  return found.row;
}

/** Reports the misfit. The message leaves out aliases, so that equal misfits of many objects become one fault. */
function reportMisfit(expected: TypeReference, at: readonly number[], context: GraphContext, info: GraphQLResolveInfo): void {
  const { cluster, kind } = rowAround(context, info.path);
  const field = `${info.parentType.name}.${info.fieldName}`;
  const message = `${field}: expected ${printTypeReference(expected)}, the stored value has another type; object and yaml show it`;
  const about = { cluster: cluster.name, kind: { group: kind.group, kind: kind.kind } };
  context.read.reportFault({ code: 'MISFIT', ...about, message, retry: 'NEVER' }, [...responsePathAsArray(info.path), ...at]);
}

type ValueTest = (value: unknown) => boolean;

/** Returns the test for values that GraphQL sends as this type without a change. */
function fitOf(type: TypeReference): ValueTest {
  if ('scalar' in type) return scalarFits[type.scalar];
  if (!('list' in type)) return isObject;
  const fits = fitOf(type.list);
  return (value) => Array.isArray(value) && value.every(fits);
}

/** Returns the same test in the form that generated code can inline. */
export function inlineFitOf(type: TypeReference): StoredFit {
  if (!('scalar' in type)) return fitOf(type);
  const { scalar } = type;
  if (scalar === 'JSON') return 'any';
  if (scalar === 'Boolean') return 'boolean';
  return scalarFits[scalar] === isText ? 'text' : scalarFits[scalar];
}

interface MisfitReport {
  /** List indexes that lead from the field to the value. */
  readonly at: readonly number[];
  report(expected: TypeReference, at: readonly number[]): void;
}

/**
 * Returns the part of a value that fits the type, or undefined if no part fits. Calls `report` for each value that does not fit: once for a
 * StringMap, however many of its members are left out.
 */
function fittingPart(type: TypeReference, value: Json, { at, report }: MisfitReport): Json | undefined {
  if (fitOf(type)(value)) return value;
  if ('list' in type && Array.isArray(value)) {
    return (value as readonly Json[]).flatMap((item, index): Json[] => {
      const part = fittingPart(type.list, item, { at: [...at, index], report });
      return part === undefined ? [] : [part];
    });
  }
  report(type, at);
  const isMap = 'scalar' in type && type.scalar === 'StringMap' && isJsonObject(value);
  return isMap ? Object.fromEntries(Object.entries(value).filter(([, member]) => isText(member))) : undefined;
}

const isText: ValueTest = (value) => typeof value === 'string';
const isNumber: ValueTest = (value) => typeof value === 'number' || isRawNumber(value);
const isNumberOrText: ValueTest = (value) => isText(value) || isNumber(value);
const isObject: ValueTest = (value) => isJsonObject(value);

const scalarFits: Readonly<Record<ScalarName, ValueTest>> = {
  String: isText,
  Boolean: (value) => typeof value === 'boolean',
  Int: (value) => typeof value === 'number' && (value | 0) === value,
  Int64: (value) => Number.isInteger(value) || isRawNumber(value),
  Float: isNumber,
  DateTime: isText,
  Bytes: isText,
  Quantity: isNumberOrText,
  Duration: isText,
  IntOrString: isNumberOrText,
  StringMap: (value) => isJsonObject(value) && Object.values(value).every(isText),
  JSON: () => true,
};
