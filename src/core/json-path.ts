import { isJsonObject, type Json } from './json.ts';

/** A JSONPath that was understood: gives what it leads to in a value, in order. Nothing where a part of it is missing. */
export type JsonPath = (value: Json) => readonly Json[];

/**
 * A path as CustomResourceDefinitions write it, which is Kubernetes' own JSONPath: `.status.conditions[?(@.type=="Ready")].status`. It knows members
 * (`.name`, `['name']`, `\.` for a dot in a name), elements (`[0]`, `[-1]`, `[1:]`, `[0,2]`, `[*]`) and filters of lists that compare with `==`, `!=`,
 * `<`, `<=`, `>`, `>=`, or ask whether something is there. Nothing of it is ever run as a script: paths come from clusters.
 *
 * Undefined for what is not understood, such as `..`, whose order Kubernetes leaves to chance.
 */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps: JsonPath[] = [];
  let rest = text;
  while (rest !== '') {
    const step = memberStep(rest) ?? bracketStep(rest);
    if (step === undefined) return undefined;
    steps.push(step.take);
    rest = rest.slice(step.length);
  }
  return (value) => steps.reduce<readonly Json[]>((found, take) => found.flatMap(take), [value]);
}

interface Step {
  readonly take: JsonPath;
  /** So many characters it is written in. */
  readonly length: number;
}

function memberStep(text: string): Step | undefined {
  const match = /^\.((?:\\.|[^.[\]\\\s'"(){}])+)/.exec(text);
  if (match === null) return undefined;
  const name = (match[1] ?? '').replaceAll(/\\(.)/g, '$1');
  return { take: name === '*' ? all : member(name), length: match[0].length };
}

/** In brackets stand names in quotes, numbers, ranges, `*`, each alone or several with commas; or a filter. */
function bracketStep(text: string): Step | undefined {
  const filter = /^\[\?\(((?:[^"'()]|"[^"]*"|'[^']*')*)\)\]/.exec(text);
  if (filter !== null) {
    const take = filterOf((filter[1] ?? '').trim());
    return take && { take, length: filter[0].length };
  }
  const match = /^\[((?:[^[\]"']|"[^"]*"|'[^']*')+)\]/.exec(text);
  const parts = (match?.[1] ?? '').match(/(?:[^,"']|"[^"]*"|'[^']*')+/g)?.map((part) => selectionOf(part.trim())) ?? [];
  if (match === null || parts.length === 0 || !parts.every((part) => part !== undefined)) return undefined;
  return { take: (value) => parts.flatMap((take) => take(value)), length: match[0].length };
}

function selectionOf(part: string): JsonPath | undefined {
  if (part === '*') return all;
  const quoted = /^(?:"([^"]*)"|'([^']*)')$/.exec(part);
  if (quoted !== null) return member((quoted[1] ?? quoted[2] ?? '').replaceAll(/\\(.)/g, '$1'));
  if (/^-?\d+$/.test(part)) {
    const at = Number(part);
    return (value) => (Array.isArray(value) ? value.slice(at, at === -1 ? undefined : at + 1) : []);
  }
  const range = /^(-?\d*):(-?\d*)(?::([1-9]\d*)?)?$/.exec(part);
  if (range === null) return undefined;
  const [start, end, step] = [range[1], range[2], range[3]].map((bound) => (bound ? Number(bound) : undefined));
  return (value) => (Array.isArray(value) ? value.slice(start ?? 0, end).filter((_, at) => at % (step ?? 1) === 0) : []);
}

function filterOf(text: string): JsonPath | undefined {
  const match = /^((?:[^"'=!<>]|"[^"]*"|'[^']*')+?)\s*(?:(==|!=|<=|>=|<|>)\s*((?:[^"'=!<>]|"[^"]*"|'[^']*')+))?$/.exec(text);
  const left = operandOf(match?.[1] ?? '');
  if (match === null || left === undefined) return undefined;
  if (match[2] === undefined) return elementsThat((element) => left(element) !== undefined);
  const compare = comparisons[match[2]];
  const right = operandOf(match[3] ?? '');
  if (compare === undefined || right === undefined) return undefined;
  return elementsThat((element) => {
    const [a, b] = [left(element), right(element)];
    return isScalar(a) && isScalar(b) && typeof a === typeof b && compare(a, b);
  });
}

type Scalar = string | number | boolean;

/** One side of a comparison, of an element: undefined where there is nothing to compare. */
function operandOf(text: string): ((element: Json) => Json | undefined) | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith('@')) {
    const path = parseJsonPath(trimmed.slice(1));
    return path && ((element) => path(element)[0]);
  }
  const literal = literalOf(trimmed);
  return literal === undefined ? undefined : () => literal;
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

function isScalar(value: Json | undefined): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function elementsThat(holds: (element: Json) => boolean): JsonPath {
  return (value) => (Array.isArray(value) ? value.filter(holds) : []);
}

function member(name: string): JsonPath {
  return (value) => {
    const found = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return found === undefined ? [] : [found];
  };
}

/** The elements of a list; of an object its members, by name. */
function all(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return [];
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return members.flatMap(([, found]) => (found === undefined ? [] : [found]));
}
