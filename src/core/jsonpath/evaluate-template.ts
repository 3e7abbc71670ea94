import { isJsonObject, isRawNumber, type Json } from '../json.ts';
import { goJson, goValue } from './go-text.ts';
import type { NodeList, TemplateNode } from './template-nodes.ts';

/**
 * The results of a template: the values that each node found, in order (the nodes in a range once for each of its elements). Or the reason why the
 * template cannot be applied to this value.
 */
export type TemplateResults =
  | { readonly result: 'found'; readonly values: readonly (readonly Json[])[] }
  | { readonly result: 'failed'; readonly message: string };

export interface EvaluateOptions {
  /** `allowed`: a field that does not exist finds nothing. `failure`: the template fails. */
  readonly missingKeys: 'allowed' | 'failure';
}

/**
 * Applies a parsed template to a value, as client-go does (util/jsonpath/jsonpath.go of v0.36).
 *
 * The members of an object are visited in their order in the text. In kubectl that order is random.
 */
export function evaluateTemplate(nodes: readonly TemplateNode[], value: Json, options: EvaluateOptions): TemplateResults {
  try {
    return { result: 'found', values: new Evaluation(nodes, options).from(0, value) };
  } catch (error) {
    if (error instanceof EvaluationFailure) return { result: 'failed', message: error.message };
    throw error;
  }
}

/** Returns the text of results as `kubectl -o jsonpath` prints them: the values of each node with spaces between them. */
export function printTemplateResults(values: readonly (readonly Json[])[]): string {
  return values.map((some) => some.map(textOf).join(' ')).join('');
}

function textOf(value: Json): string {
  return value !== null && isPlain(value) ? goValue(value) : goJson(value);
}

class EvaluationFailure extends Error {}

class Evaluation {
  readonly #nodes: readonly TemplateNode[];
  readonly #options: EvaluateOptions;
  #beginning = 0;
  #open = 0;
  #ending = 0;
  /** The position of the last `end` that closed a range. */
  #lastEnd = -1;

  constructor(nodes: readonly TemplateNode[], options: EvaluateOptions) {
    this.#nodes = nodes;
    this.#options = options;
  }

  /** Evaluates the nodes from `first` up to the end of the current range, or of the template. */
  from(first: number, value: Json): readonly (readonly Json[])[] {
    const found: (readonly Json[])[] = [];
    for (let at = first; at < this.#nodes.length; at++) {
      const results = this.#walk([value], this.#nodes[at] ?? { type: 'list', nodes: [] });
      if (this.#ending > 0 && this.#ending <= this.#open) {
        this.#ending--;
        this.#lastEnd = at;
        break;
      }
      if (this.#beginning === 0) {
        found.push(results);
        continue;
      }
      this.#beginning--;
      this.#open++;
      for (const one of results) for (const inner of this.from(at + 1, one)) found.push(inner);
      // A range without values is walked once too, to find its end.
      if (results.length === 0) this.from(at + 1, null);
      this.#open--;
      at = Math.max(at, this.#lastEnd);
    }
    return found;
  }

  #walk(input: readonly Json[], node: TemplateNode): readonly Json[] {
    switch (node.type) {
      case 'list':
        return this.#list(input, node);
      case 'text':
        return [node.text];
      case 'number':
      case 'boolean':
        return input.map(() => node.value);
      case 'field':
        return this.#field(input, node.name);
      case 'word':
        return this.#word(input, node.word);
      case 'wildcard':
        return input.flatMap(membersOf);
      case 'descent':
        return input.flatMap(descendants);
      case 'elements':
        return elementsAt(input, node);
      case 'union':
        return node.members.flatMap((member) => this.#list(input, member));
      case 'filter':
        return input.flatMap((value) => this.#filtered(value, node));
      default:
        throw node satisfies never;
    }
  }

  #list(input: readonly Json[], { nodes }: NodeList): readonly Json[] {
    return nodes.reduce((values, node) => this.#walk(values, node), input);
  }

  #field(input: readonly Json[], name: string): readonly Json[] {
    const found = input.flatMap((value) => {
      const member = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
      return member === undefined ? [] : [member];
    });
    if (found.length === 0 && input.length > 0 && this.#options.missingKeys === 'failure')
      throw new EvaluationFailure(`${name} is not found`);
    return found;
  }

  #word(input: readonly Json[], word: string): readonly Json[] {
    if (word === 'range') {
      this.#beginning++;
      return input;
    }
    if (word !== 'end') throw new EvaluationFailure(`unrecognized identifier ${word}`);
    if (this.#open === 0) throw new EvaluationFailure('not in range, nothing to end');
    this.#ending++;
    return [];
  }

  #filtered(value: Json, { left, right, operator }: Extract<TemplateNode, { type: 'filter' }>): readonly Json[] {
    if (!Array.isArray(value)) throw new EvaluationFailure(`${goValue(value)} is not array or slice and cannot be filtered`);
    return value.filter((element: Json) => {
      if (operator === undefined) return this.#exists(element, left);
      const lefts = this.#list([element], left);
      if (lefts.length === 0) return false;
      const rights = this.#list([element], right);
      if (lefts.length > 1 || rights.length > 1) throw new EvaluationFailure('can only compare one element at a time');
      return rights.length > 0 && compare(lefts[0] ?? null, rights[0] ?? null, operator);
    });
  }

  #exists(element: Json, path: NodeList): boolean {
    try {
      return this.#list([element], path).length > 0;
    } catch (error) {
      if (error instanceof EvaluationFailure) return false;
      throw error;
    }
  }
}

function isPlain(value: Json): boolean {
  return typeof value !== 'object' || value === null || isRawNumber(value);
}

/** Returns the values directly below a value. A text has its bytes. */
function membersOf(value: Json): readonly Json[] {
  if (typeof value === 'string') return [...Buffer.from(value)];
  return isPlain(value) ? [] : Object.values(value as object);
}

/** Returns the value, if it has members, and everything below it. */
function descendants(value: Json): readonly Json[] {
  const members = membersOf(value);
  return members.length === 0 ? [] : [value, ...members.flatMap(descendants)];
}

function elementsAt(input: readonly Json[], { start, end, step }: Extract<TemplateNode, { type: 'elements' }>): readonly Json[] {
  const found: Json[] = [];
  for (const list of input) {
    if (list === null) continue;
    if (!Array.isArray(list)) throw new EvaluationFailure(`${goTypeOf(list)} is not array or slice`);
    const { length } = list;
    const from = fromEnd(start?.value ?? 0, length);
    const last = end?.value ?? length;
    const to = end?.derived === true && last === 0 ? length : fromEnd(last, length);
    // client-go ends the whole step at an empty range, also for the lists that follow.
    if (from === to) return found;
    if (from < 0 || from >= length) throw new EvaluationFailure(`array index out of bounds: index ${from}, length ${length}`);
    if (to < 0 || to > length) throw new EvaluationFailure(`array index out of bounds: index ${to - 1}, length ${length}`);
    if (from > to) throw new EvaluationFailure(`starting index ${from} is greater than ending index ${to}`);
    const stride = step?.value ?? 1;
    if (stride <= 0) throw new EvaluationFailure('step must be > 0');
    for (let at = from; at < to; at += stride) found.push(list[at] ?? null);
  }
  return found;
}

function fromEnd(index: number, length: number): number {
  return index < 0 ? index + length : index;
}

function goTypeOf(value: Json): string {
  if (isJsonObject(value)) return 'map[string]interface {}';
  const type = basicTypeOf(value);
  return { int: 'int64', float: 'float64', boolean: 'bool', string: 'string', other: 'interface {}' }[type];
}

function basicTypeOf(value: Json): 'int' | 'float' | 'boolean' | 'string' | 'other' {
  if (isRawNumber(value)) return 'int';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return typeof value === 'boolean' || typeof value === 'string' ? (typeof value as 'boolean' | 'string') : 'other';
}

/** Compares as the templates of Go do: two values of one basic type. */
function compare(left: Json, right: Json, operator: string): boolean {
  const [type, other] = [basicTypeOf(left), basicTypeOf(right)];
  if (type === 'other' || other === 'other') throw new EvaluationFailure('invalid type for comparison');
  if (type !== other) throw new EvaluationFailure('incompatible types for comparison');
  const order = orderOf(left, right);
  if (operator === '==') return order === 0;
  if (operator === '!=') return order !== 0;
  if (type === 'boolean') throw new EvaluationFailure('invalid type for comparison');
  const holds = orders[operator];
  if (holds === undefined) throw new EvaluationFailure(`unrecognized filter operator ${operator}`);
  return holds(order);
}

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function orderOf(left: Json, right: Json): number {
  if (typeof left === 'string' && typeof right === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(right));
  const [a, b] = [left, right].map((value) => (isRawNumber(value) ? BigInt(value.rawJSON) : (value as number | boolean)));
  return a === b ? 0 : (a ?? 0) < (b ?? 0) ? -1 : Number((a ?? 0) > (b ?? 0));
}
