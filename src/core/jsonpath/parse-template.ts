import { MusterError } from '../errors.ts';
import type { NodeList, RangeBound, TemplateNode } from './template-nodes.ts';

/**
 * Parses a template of kubectl's dialect of JSONPath: text, with paths in braces.
 *
 * Follows client-go (util/jsonpath/parser.go of v0.36) in everything, also where its grammar is loose.
 *
 * @throws {MusterError} `BAD_INPUT` with the reason that kubectl gives.
 */
export function parseJsonPathTemplate(text: string): readonly TemplateNode[] {
  return new TemplateParser(text).parse();
}

const dictionaryKey = /^'([^']*)'$/;
const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;
const comparison = /^([^!<>=]+)([!<>=]+)(.+?)$/;
const terminators = new Set([undefined, ' ', '\t', '\r', '\n', '.', ',', '[', ']', '$', '@', '{', '}']);

/** Reads the text from left to right. `#start` is where the current token begins, `#at` the position of the next character. */
class TemplateParser {
  readonly #input: string;
  #start = 0;
  #at = 0;

  constructor(input: string) {
    this.#input = input;
  }

  parse(): readonly TemplateNode[] {
    const nodes: TemplateNode[] = [];
    for (;;) {
      const brace = this.#input.indexOf('{', this.#at);
      this.#at = brace === -1 ? this.#input.length : brace;
      if (this.#at > this.#start) nodes.push({ type: 'text', text: this.#token() });
      if (brace === -1) return nodes;
      this.#skip('{');
      nodes.push(this.#action());
    }
  }

  /** Reads up to the closing brace. */
  #action(): NodeList {
    const nodes: TemplateNode[] = [];
    while (!this.#follows('}')) nodes.push(...this.#step(nodes.at(-1)));
    this.#skip('}');
    return { type: 'list', nodes };
  }

  #step(before: TemplateNode | undefined): readonly TemplateNode[] {
    if (this.#follows('[?(')) return [this.#filter()];
    if (this.#follows('..')) return this.#descent(before);
    const char = this.#next();
    if (char === undefined || char === '\n' || char === '\r') throw refused('unclosed action');
    if (char === ' ' || char === '@' || char === '$') {
      this.#token();
      return [];
    }
    if (char === '[') return this.#brackets();
    if (char === '"' || char === "'") return [this.#quoted(char)];
    if (char === '.') return [this.#field()];
    const isNumber = char === '+' || char === '-' || /\p{Nd}/u.test(char);
    if (!isNumber && !isAlphaNumeric(char)) throw refused(`unrecognized character in action: ${codePointOf(char)} '${char}'`);
    this.#at -= char.length;
    return [isNumber ? this.#number() : this.#word()];
  }

  #descent(before: TemplateNode | undefined): readonly TemplateNode[] {
    if (before?.type === 'descent') throw refused('invalid multiple recursive descent');
    this.#skip('..');
    const next = this.#peek();
    return next !== undefined && isAlphaNumeric(next) ? [{ type: 'descent' }, this.#field()] : [{ type: 'descent' }];
  }

  #word(): TemplateNode {
    while (!terminators.has(this.#peek())) this.#next();
    const word = this.#token();
    return word === 'true' || word === 'false' ? { type: 'boolean', value: word === 'true' } : { type: 'word', word };
  }

  #number(): TemplateNode {
    if (/[+-]/.test(this.#peek() ?? '')) this.#next();
    while (/[.\p{Nd}]/u.test(this.#peek() ?? '')) this.#next();
    const text = this.#token();
    if (!/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text)) throw refused(`cannot parse number ${text}`);
    return { type: 'number', value: Number(text), isFloat: text.includes('.') };
  }

  #field(): TemplateNode {
    this.#token();
    for (let char = this.#peek(); !terminators.has(char); char = this.#peek()) {
      this.#next();
      if (char === '\\') this.#next();
    }
    const name = this.#token();
    return name === '*' ? { type: 'wildcard' } : { type: 'field', name: name.replaceAll('\\', '') };
  }

  #quoted(quote: string): TemplateNode {
    for (let char = this.#next(); char !== quote || this.#input[this.#at - 2] === '\\'; char = this.#next())
      if (char === undefined || char === '\n') throw refused('unterminated quoted string');
    return { type: 'text', text: unquoted(this.#token()) };
  }

  #brackets(): readonly TemplateNode[] {
    for (let char = this.#next(); char !== ']'; char = this.#next())
      if (char === undefined || char === '\n') throw refused('unterminated array');
    const inside = this.#token().slice(1, -1);
    const members = inside.split(',');
    if (members.length > 1)
      return [{ type: 'union', members: members.map((member) => actionOf(`[${member.replaceAll(/^ +| +$/g, '')}]`)) }];
    const [, key] = dictionaryKey.exec(inside) ?? [];
    return key === undefined ? [elementsOf(inside === '*' ? ':' : inside)] : actionOf(`.${key}`).nodes;
  }

  #filter(): TemplateNode {
    this.#skip('[?(');
    let quote: string | undefined;
    let isClosed = false;
    for (let char = this.#next(); ; char = this.#next()) {
      if (char === undefined || char === '\n') throw refused('unterminated filter');
      if (char === '"' || char === "'") {
        if (quote === undefined) quote = char;
        else if (char === quote && this.#input[this.#at - 2] !== '\\') isClosed = true;
      } else if (char === ')' && (quote !== undefined) === isClosed) break;
    }
    if (this.#next() !== ']') throw refused('unclosed array expect ]');
    const text = this.#token().slice(0, -2);
    const [, left, operator, right] = comparison.exec(text) ?? [];
    if (left === undefined || right === undefined)
      return { type: 'filter', left: actionOf(text), right: { type: 'list', nodes: [] }, operator: undefined };
    return { type: 'filter', left: actionOf(left), right: actionOf(right), operator };
  }

  #follows(text: string): boolean {
    return this.#input.startsWith(text, this.#at);
  }

  #skip(text: string): void {
    this.#at += text.length;
    this.#token();
  }

  #peek(): string | undefined {
    const code = this.#input.codePointAt(this.#at);
    return code === undefined ? undefined : String.fromCodePoint(code);
  }

  #next(): string | undefined {
    const char = this.#peek();
    this.#at += char?.length ?? 0;
    return char;
  }

  /** Returns the text since the last call. */
  #token(): string {
    const text = this.#input.slice(this.#start, this.#at);
    this.#start = this.#at;
    return text;
  }
}

/** Parses the text as if it stood in braces of its own. */
function actionOf(text: string): NodeList {
  const [first] = parseJsonPathTemplate(`{${text}}`);
  if (first?.type !== 'list') throw refused('unclosed action');
  return first;
}

function elementsOf(text: string): TemplateNode {
  const match = slice.exec(text);
  if (match === null) throw refused(`invalid array index ${text}`);
  const [start, end, step] = [match[1], match[2]?.slice(1), match[3]?.slice(1)].map(boundOf);
  const derived = match[2] === undefined ? { value: (start?.value ?? 0) + 1, derived: true } : end;
  return { type: 'elements', start, end: derived, step };
}

function boundOf(text: string | undefined): RangeBound | undefined {
  if (text === undefined || text === '') return undefined;
  if (text === '-') throw refused(`array index ${text} is not a number`);
  return { value: Number(text), derived: false };
}

const escapes: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\' };

/** Returns the text inside quotes, with the escapes of Go. */
function unquoted(text: string): string {
  const [quote = '', inside] = [text[0], text.slice(1, -1)];
  return inside.replaceAll(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{3}|.?)/gs, (_, escaped: string) => {
    if (/^[xuU]./.test(escaped)) return characterOf(Number.parseInt(escaped.slice(1), 16), text);
    if (/^[0-7]{3}$/.test(escaped)) return characterOf(Number.parseInt(escaped, 8), text);
    const character = escaped === quote ? escaped : escapes[escaped];
    if (character === undefined) throw refused(`unquote string ${text} error invalid syntax`);
    return character;
  });
}

function characterOf(code: number, text: string): string {
  if (code > 0x10_ff_ff) throw refused(`unquote string ${text} error invalid syntax`);
  return String.fromCodePoint(code);
}

function isAlphaNumeric(char: string): boolean {
  return /[_\p{L}\p{Nd}]/u.test(char);
}

/** Returns `U+0025` for `%`. */
function codePointOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function refused(message: string): MusterError {
  return new MusterError('BAD_INPUT', `jsonpath: ${message}`);
}
