import { isJsonObject, type Json } from '../json.ts';

/** A parsed JSONPath. It returns the values at the path, in order. The result is empty if a step is missing or cannot be applied. */
export type JsonPath = (value: Json) => readonly Json[];

/**
 * One step of a path. It takes values and returns the values that it selects below them. Undefined if the step cannot be applied to one of the
 * values; the whole path then has no result.
 */
type Selection = (input: readonly Json[]) => readonly Json[] | undefined;

/**
 * Parses a path of a CustomResourceDefinition, in Kubernetes' own JSONPath: `.status.conditions[?(@.type=="Ready")].status`. Paths come
 * from clusters, so no part of them is ever run as a script.
 *
 * It supports:
 * - members: `.name`, `['name']`, and `\.` for a dot in a name, also in single quotes
 * - elements: `[0]`, `[-1]`, `[1:]`, `[0,2]`, `[*]`
 * - filters of lists that compare with `==`, `!=`, `<`, `<=`, `>`, `>=`, or test whether a value exists
 *
 * As in client-go (util/jsonpath), these have no result: an index or a range beyond the end, a list step on a value that is not a list, and
 * a comparison of two types. Returns undefined for unsupported paths, such as `..`, whose order is random in Kubernetes.
 */
export function parseJsonPath(text: string): JsonPath | undefined {
  const take = parseSteps(text);
  return take && ((value) => take([value]) ?? []);
}

function parseSteps(text: string): Selection | undefined {
  const steps: Selection[] = [];
  let rest = text;
  while (rest !== '') {
    const step = memberStep(rest) ?? bracketStep(rest);
    if (step === undefined) return undefined;
    steps.push(step.take);
    rest = rest.slice(step.length);
  }
  return (input) => steps.reduce<readonly Json[] | undefined>((found, take) => found && take(found), input);
}

interface ParsedStep {
  readonly take: Selection;
  /** The length of the step's text. */
  readonly length: number;
}

function memberStep(text: string): ParsedStep | undefined {
  const match = /^\.((?:\\.|[^.[\]\\\s'"(){}])+)/.exec(text);
  if (match === null) return undefined;
  const name = (match[1] ?? '').replaceAll(/\\(.)/g, '$1');
  return { take: name === '*' ? members : member(name), length: match[0].length };
}

/**
 * Parses brackets. They contain a filter, or one or more of these, separated by commas: names in quotes, numbers, ranges, `*`. Undefined if
 * the text does not begin with valid brackets.
 */
function bracketStep(text: string): ParsedStep | undefined {
  const filter = /^\[\?\(((?:[^"'()]|"[^"]*"|'[^']*')*)\)\]/.exec(text);
  if (filter !== null) {
    const take = filterOf((filter[1] ?? '').trim());
    return take && { take, length: filter[0].length };
  }
  const match = /^\[((?:[^[\]"']|"[^"]*"|'[^']*')+)\]/.exec(text);
  const parts = (match?.[1] ?? '').match(/(?:[^,"']|"[^"]*"|'[^']*')+/g)?.map((part) => selectionOf(part.trim())) ?? [];
  if (match === null || parts.length === 0 || !parts.every((part) => part !== undefined)) return undefined;
  return { take: unionOf(parts), length: match[0].length };
}

function unionOf(parts: readonly Selection[]): Selection {
  return (input) => {
    const found = parts.map((take) => take(input));
    return found.every((some) => some !== undefined) ? found.flat() : undefined;
  };
}

function selectionOf(part: string): Selection | undefined {
  if (part === '*') return sliceOf({});
  // The text in single quotes is a path, so a dot in a name needs its backslash there too.
  const quoted = /^(?:"([^"]*)"|'([^']*)')$/.exec(part);
  if (quoted?.[2] !== undefined) return parseSteps(`.${quoted[2]}`);
  if (quoted?.[1] !== undefined) return member(quoted[1].replaceAll(/\\(.)/g, '$1'));
  if (/^-?\d+$/.test(part)) return sliceOf({ start: Number(part), isIndex: true });
  const range = /^(-?\d*):(-?\d*)(?::([1-9]\d*)?)?$/.exec(part);
  if (range === null) return undefined;
  const [start, end, step] = [range[1], range[2], range[3]].map((bound) => (bound ? Number(bound) : undefined));
  return sliceOf({ start, end, step });
}

interface Slice {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly step?: number | undefined;
  /** True: select the one element at `start`. */
  readonly isIndex?: true;
}

function sliceOf({ start = 0, end, step = 1, isIndex }: Slice): Selection {
  return (input) => {
    const found: Json[] = [];
    for (const list of input) {
      if (list === null) continue;
      if (!Array.isArray(list)) return undefined;
      const { length } = list;
      const from = start < 0 ? start + length : start;
      const named = isIndex ? start + 1 : (end ?? length);
      const to = named < 0 || (named === 0 && isIndex) ? named + length : named;
      // As in client-go, an empty range ends the step, and further lists are not read.
      if (from === to) return found;
      if (from < 0 || from >= length || to > length || to < from) return undefined;
      // Pushed one by one, because a call with all elements as arguments may exceed the maximum number of arguments.
      for (let at = from; at < to; at += step) found.push(list[at] ?? null);
    }
    return found;
  };
}

function filterOf(text: string): Selection | undefined {
  const match = /^((?:[^"'=!<>]|"[^"]*"|'[^']*')+?)\s*(?:(==|!=|<=|>=|<|>)\s*((?:[^"'=!<>]|"[^"]*"|'[^']*')+))?$/.exec(text);
  const left = operandOf(match?.[1] ?? '');
  if (match === null || left === undefined) return undefined;
  if (match[2] === undefined) return elementsThat((element) => (left([element]) ?? []).length > 0);
  const compare = comparisons[match[2]];
  const right = operandOf(match[3] ?? '');
  if (compare === undefined || right === undefined) return undefined;
  return elementsThat((element) => {
    const [ours, theirs] = [left([element]), right([element])];
    if (ours?.length === 0 || (ours?.length === 1 && theirs?.length === 0)) return false;
    const [a, b] = [ours?.[0], theirs?.[0]];
    if (ours?.length !== 1 || theirs?.length !== 1 || !isScalar(a) || !isScalar(b) || typeOf(a) !== typeOf(b)) return undefined;
    return typeof a === 'boolean' && !/^[=!]=$/.test(match[2] ?? '') ? undefined : compare(a, b);
  });
}

type Scalar = string | number | boolean;

/** Parses one side of a comparison: a path from `@`, or a literal. Undefined if the text is neither. */
function operandOf(text: string): Selection | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith('@')) return parseSteps(trimmed.slice(1));
  const literal = literalOf(trimmed);
  return literal === undefined ? undefined : () => [literal];
}

function literalOf(text: string): Scalar | undefined {
  const quoted = /^(?:"([^"]*)"|'([^']*)')$/.exec(text);
  if (quoted !== null) return quoted[1] ?? quoted[2];
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

const comparisons: Readonly<Record<string, (a: Scalar, b: Scalar) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Returns the Go type of a value. Integers and other numbers are different types. */
function typeOf(value: Scalar): string {
  return typeof value === 'number' ? `number ${Number.isInteger(value)}` : typeof value;
}

function isScalar(value: Json | undefined): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/**
 * Selects the elements of lists for which `holds` returns true.
 *
 * @param holds Returns undefined if the element cannot be compared. The whole path then has no result.
 */
function elementsThat(holds: (element: Json) => boolean | undefined): Selection {
  return (input) => {
    const elements: Json[] = [];
    for (const list of input) {
      if (!Array.isArray(list)) return undefined;
      for (const element of list) elements.push(element);
    }
    const found: Json[] = [];
    for (const element of elements) {
      const isFound = holds(element);
      if (isFound === undefined) return undefined;
      if (isFound) found.push(element);
    }
    return found;
  };
}

function member(name: string): Selection {
  return (input) =>
    input.flatMap((value) => {
      const found = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
      return found === undefined ? [] : [found];
    });
}

/** Returns the elements of lists, and the members of objects in the order of their names. */
function members(input: readonly Json[]): readonly Json[] {
  return input.flatMap((value) => {
    if (Array.isArray(value)) return value;
    if (!isJsonObject(value)) return [];
    const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return entries.flatMap(([, found]) => (found === undefined ? [] : [found]));
  });
}
