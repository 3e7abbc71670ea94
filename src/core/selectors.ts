import { MusterError } from './errors.ts';

/** One condition on one label. Values and bounds are valid label values. */
export type LabelRequirement =
  /** `=`, `==`, `in`: the label exists and has one of these values. */
  | { readonly operator: 'in'; readonly key: string; readonly values: ReadonlySet<string> }
  /** `!=`, `notin`: the label does not exist or has another value. */
  | { readonly operator: 'notIn'; readonly key: string; readonly values: ReadonlySet<string> }
  | { readonly operator: 'exists'; readonly key: string }
  | { readonly operator: 'absent'; readonly key: string }
  /** `>`, `<`: the label exists, is a decimal integer of 64 bits, and is above or below the bound. */
  | { readonly operator: 'above'; readonly key: string; readonly bound: bigint }
  | { readonly operator: 'below'; readonly key: string; readonly bound: bigint };

/** A label selector. All requirements must hold. Without requirements it selects every object. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
}

const maxTextLength = 65_536;
const maxTerms = 1_000;

/**
 * Parses the syntax of `kubectl -l`: `app=web,tier in (front, back),!canary,release != old,generation > 3`.
 *
 * Keys and values are validated as the API server does. At most 1,000 terms (requirements, and values in parentheses) in 65,536
 * characters.
 *
 * @throws {MusterError} `BAD_INPUT` with the expected and the actual text, and the position, counted from 1.
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text.length > maxTextLength) {
    throw new MusterError('BAD_INPUT', `expected a label selector of at most ${maxTextLength} characters, got ${text.length}`);
  }
  const cursor: TokenCursor = { tokens: tokensOf(text), at: 0, terms: 0 };
  const requirements: LabelRequirement[] = [];
  if (peek(cursor).type === 'end') return { requirements };
  for (;;) {
    requirements.push(readRequirement(cursor));
    countTerm(cursor);
    const next = take(cursor);
    if (next.type === 'end') return { requirements };
    if (next.type !== ',') throw unexpected('a comma or the end', next);
  }
}

/** True if the selector selects an object with these labels. Undefined counts as no labels. */
export function matchesLabelSelector(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  for (const requirement of selector.requirements) {
    const { key } = requirement;
    const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (!meets(requirement, value)) return false;
  }
  return true;
}

/**
 * Prints a selector as text that `parseLabelSelector` can read. Selectors with equal conditions have equal texts, in any order of the
 * conditions.
 */
export function printLabelSelector(selector: LabelSelector): string {
  return [...new Set(selector.requirements.map(printRequirement))].sort().join(',');
}

function printRequirement(requirement: LabelRequirement): string {
  const { key, operator } = requirement;
  switch (operator) {
    case 'in':
      return `${key} in ${printValues(requirement.values)}`;
    case 'notIn':
      return `${key} notin ${printValues(requirement.values)}`;
    case 'exists':
      return key;
    case 'absent':
      return `!${key}`;
    case 'above':
      return `${key}>${requirement.bound}`;
    case 'below':
      return `${key}<${requirement.bound}`;
    default:
      return operator satisfies never;
  }
}

function printValues(values: ReadonlySet<string>): string {
  return `(${[...values].sort().join(',')})`;
}

function meets(requirement: LabelRequirement, value: string | undefined): boolean {
  switch (requirement.operator) {
    case 'in':
      return value !== undefined && requirement.values.has(value);
    case 'notIn':
      return value === undefined || !requirement.values.has(value);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'above':
    case 'below': {
      const integer = value === undefined ? undefined : parseInteger(value);
      if (integer === undefined) return false;
      return requirement.operator === 'above' ? integer > requirement.bound : integer < requirement.bound;
    }
    default:
      return requirement satisfies never;
  }
}

type TokenType = 'word' | 'end' | ',' | '(' | ')' | '!' | '=' | '==' | '!=' | '<' | '>';

interface Token {
  readonly type: TokenType;
  readonly text: string;
  /** Character position, counted from 1. */
  readonly position: number;
}

interface TokenCursor {
  readonly tokens: readonly Token[];
  at: number;
  terms: number;
}

const tokenPattern = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^=!(),<> \t\r\n]+))/y;

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let position = 0; ; ) {
    tokenPattern.lastIndex = position;
    const match = tokenPattern.exec(text);
    if (match === null) return [...tokens, { type: 'end', text: '', position: text.length + 1 }];
    const [whole, symbol, word] = match;
    const read = symbol ?? word ?? '';
    position += whole.length;
    tokens.push({ type: symbol === undefined ? 'word' : (symbol as TokenType), text: read, position: position - read.length + 1 });
  }
}

function peek({ tokens, at }: TokenCursor): Token {
  return tokens[Math.min(at, tokens.length - 1)] ?? { type: 'end', text: '', position: 1 };
}

function take(cursor: TokenCursor): Token {
  const token = peek(cursor);
  cursor.at += 1;
  return token;
}

function countTerm(cursor: TokenCursor): void {
  cursor.terms += 1;
  if (cursor.terms > maxTerms) throw new MusterError('BAD_INPUT', `expected a label selector of at most ${maxTerms} terms, got more`);
}

function readRequirement(cursor: TokenCursor): LabelRequirement {
  const first = take(cursor);
  if (first.type !== '!' && first.type !== 'word') throw unexpected('a label key or !', first);
  const key = readKey(first.type === '!' ? take(cursor) : first);
  if (first.type === '!') return { operator: 'absent', key };
  const after = peek(cursor);
  if (after.type === 'end' || after.type === ',') return { operator: 'exists', key };
  return readComparison(cursor, key, take(cursor));
}

function readComparison(cursor: TokenCursor, key: string, operator: Token): LabelRequirement {
  switch (operator.type === 'word' ? operator.text : operator.type) {
    case '=':
    case '==':
      return { operator: 'in', key, values: new Set([readSingleValue(cursor)]) };
    case '!=':
      return { operator: 'notIn', key, values: new Set([readSingleValue(cursor)]) };
    case 'in':
      return { operator: 'in', key, values: readValues(cursor) };
    case 'notin':
      return { operator: 'notIn', key, values: readValues(cursor) };
    case '>':
      return { operator: 'above', key, bound: readBound(cursor) };
    case '<':
      return { operator: 'below', key, bound: readBound(cursor) };
    default:
      throw unexpected('one of =, ==, !=, in, notin, <, >, a comma or the end', operator);
  }
}

function readSingleValue(cursor: TokenCursor): string {
  const next = peek(cursor);
  // `app=` means the empty value, as in kubectl.
  if (next.type === 'end' || next.type === ',') return '';
  return readValue(take(cursor));
}

function readBound(cursor: TokenCursor): bigint {
  const token = take(cursor);
  const bound = token.type === 'word' ? parseInteger(token.text) : undefined;
  if (bound === undefined) throw unexpected('an integer', token);
  readValue(token);
  return bound;
}

/**
 * Reads the values in parentheses. An empty text between commas or parentheses is the empty value. So `()` has one value, as in a
 * kube-apiserver (1.36.3).
 */
function readValues(cursor: TokenCursor): ReadonlySet<string> {
  const open = take(cursor);
  if (open.type !== '(') throw unexpected('(', open);
  const values = new Set<string>();
  for (;;) {
    const next = peek(cursor);
    values.add(next.type === ',' || next.type === ')' ? '' : readValue(take(cursor)));
    countTerm(cursor);
    const separator = take(cursor);
    if (separator.type === ')') return values;
    if (separator.type !== ',') throw unexpected('a comma or )', separator);
  }
}

const namePattern = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** The syntax of a lowercase DNS subdomain, without its maximum length of 253 characters. */
export const subdomainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** True for a valid label name, and for a valid value that is not empty: at most 63 letters, digits, `-`, `_` and `.`. */
function isLabelName(text: string): boolean {
  return namePattern.test(text);
}

/** True for a lowercase DNS subdomain of at most 253 characters. Most object names and the prefixes of label keys have this form. */
export function isSubdomain(text: string): boolean {
  return text.length <= 253 && subdomainPattern.test(text);
}

/** True for the key of a label or an annotation: `app`, `example.com/app`. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  return isLabelName(text.slice(slash + 1)) && (slash < 0 || isSubdomain(text.slice(0, slash)));
}

/** True for a valid label value. It may be empty. */
export function isLabelValue(text: string): boolean {
  return text === '' || isLabelName(text);
}

function readKey(token: Token): string {
  if (token.type !== 'word') throw unexpected('a label key', token);
  const slash = token.text.indexOf('/');
  const name = token.text.slice(slash + 1);
  const prefix = slash < 0 ? undefined : token.text.slice(0, slash);
  if (!isLabelName(name)) {
    throw unexpected('a label key: a name of at most 63 letters, digits, - _ and ., beginning and ending with a letter or digit', token);
  }
  if (prefix !== undefined && !isSubdomain(prefix)) {
    throw unexpected('a label key whose part before the slash is a lowercase DNS subdomain of at most 253 characters', token);
  }
  return token.text;
}

function readValue(token: Token): string {
  if (token.type !== 'word') throw unexpected('a value', token);
  if (isLabelName(token.text)) return token.text;
  throw unexpected('a label value: at most 63 letters, digits, - _ and ., beginning and ending with a letter or digit', token);
}

/** Parses a decimal integer of 64 bits. Undefined for any other text. */
function parseInteger(text: string): bigint | undefined {
  if (!/^[-+]?[0-9]{1,30}$/.test(text)) return undefined;
  const integer = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, integer) === integer ? integer : undefined;
}

function unexpected(expected: string, token: Token): MusterError {
  const found = token.type === 'end' ? 'the end of the text' : JSON.stringify(token.text.slice(0, 80));
  return new MusterError('BAD_INPUT', `label selector: expected ${expected} at character ${token.position}, got ${found}`);
}
