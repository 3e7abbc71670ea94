import { type Json, parseJson } from '../core/json.ts';
import type { Steps } from '../core/scheduling/operation-scheduler.ts';

/** Options of `parseJsonInSteps`. */
interface StepwiseParsing {
  /** Characters of text that one step parses at most, unless a single text or number is longer. */
  readonly pieceLength: number;
  /** Called with each parsed piece. It may throw. */
  readonly onPiece: (value: Json) => void;
}

/** Characters that one step scans. A step takes about as long as parsing a piece of 16 KiB. */
const scanLength = 128 << 10;

const blank = /^[ \t\n\r]*$/;

/**
 * Parses JSON in steps, with the result of `parseJson`. It scans the text for arrays and objects that are longer than a piece, and parses
 * their elements in pieces. The text must not have more than a few hundred levels.
 *
 * @throws {SyntaxError} if the text is not JSON.
 */
export function* parseJsonInSteps(text: string, parsing: StepwiseParsing): Steps<Json> {
  const ends = yield* longContainersIn(text, parsing.pieceLength);
  const start = text.search(/[^ \t\n\r]/);
  const end = ends.get(start);
  if (end === undefined) return parsePiece(text, parsing);
  if (!blank.test(text.slice(end + 1))) throw new SyntaxError('text after the value');
  return yield* parseContainer({ text, ends, parsing }, start, end);
}

/** Returns the last positions of the arrays and objects that are longer than a piece, by their first positions. */
function* longContainersIn(text: string, pieceLength: number): Steps<ReadonlyMap<number, number>> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  let rested = 0;
  for (let at = 0; at < text.length; at++) {
    if (at - rested > scanLength) {
      rested = at;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openArray || code === openObject) open.push(at);
    else if (code === closeArray || code === closeObject) {
      const start = open.pop();
      if (start === undefined || text.charCodeAt(start) !== code - 2) throw new SyntaxError('a bracket without its counterpart');
      if (at - start > pieceLength) ends.set(start, at);
    }
  }
  if (open.length > 0) throw new SyntaxError('a bracket without its end');
  return ends;
}

interface ScannedText {
  readonly text: string;
  readonly ends: ReadonlyMap<number, number>;
  readonly parsing: StepwiseParsing;
}

/** Parses an array or object that is longer than a piece: its elements in pieces, and its long elements by themselves. */
function* parseContainer(scanned: ScannedText, start: number, end: number): Steps<Json> {
  const { text, ends, parsing } = scanned;
  const isArray = text.charCodeAt(start) === openArray;
  const result = isArray ? arrayResult() : objectResult();
  const addPiece = (piece: string) => {
    if (blank.test(piece)) throw new SyntaxError('an element is missing');
    result.addAll(parsePiece(isArray ? `[${piece}]` : `{${piece}}`, parsing));
  };
  let from = start + 1;
  if (blank.test(text.slice(from, end))) return result.value;
  for (let at = from; at < end; ) {
    const { next, long } = elementAt(scanned, at, end);
    const longEnd = long === undefined ? undefined : ends.get(long);
    if (long !== undefined && longEnd !== undefined) {
      if (from < at) addPiece(text.slice(from, at - 1));
      if (!blank.test(text.slice(longEnd + 1, next))) throw new SyntaxError('text after an element');
      const before = text.slice(at, long);
      if (isArray && !blank.test(before)) throw new SyntaxError('text before an element');
      const key = isArray ? '' : keyIn(before, parsing);
      result.add(key, yield* parseContainer(scanned, long, longEnd));
      from = next + 1;
    } else if (next - from > parsing.pieceLength) {
      addPiece(text.slice(from, next));
      from = next + 1;
    }
    at = next + 1;
    // The container ends after a comma.
    if (next < end && at >= end) throw new SyntaxError('an element is missing');
    yield;
  }
  if (from < end) addPiece(text.slice(from, end));
  return result.value;
}

/** Returns the position of the comma after an element, or the end of its container, and the first position of a long value in it. */
function elementAt({ text, ends }: ScannedText, start: number, end: number): { readonly next: number; readonly long: number | undefined } {
  let long: number | undefined;
  let depth = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === comma && depth === 0) return { next: at, long };
    else if (code === closeArray || code === closeObject) depth--;
    else if (code === openArray || code === openObject) {
      const last = ends.get(at);
      if (last === undefined) depth++;
      else [long, at] = [long ?? at, last];
    }
  }
  return { next: end, long };
}

function arrayResult() {
  const value: Json[] = [];
  return {
    value,
    addAll: (part: Json) => {
      for (const element of part as readonly Json[]) value.push(element);
    },
    add: (_key: string, element: Json) => void value.push(element),
  };
}

function objectResult() {
  const value: Record<string, Json> = {};
  // An assignment to `__proto__` would set the prototype. JSON.parse makes an own property of it.
  const add = (key: string, element: Json) => {
    if (key === '__proto__') Object.defineProperty(value, key, { value: element, writable: true, enumerable: true, configurable: true });
    else value[key] = element;
  };
  return {
    value,
    addAll: (part: Json) => {
      for (const [key, element] of Object.entries(part as Record<string, Json>)) add(key, element);
    },
    add,
  };
}

/** Returns the key in `"key":`, the text before the value of a member. */
function keyIn(before: string, parsing: StepwiseParsing): string {
  // `null` replaces the value. A digit would form a valid number with a minus or a digit before it.
  const [key, ...others] = Object.keys(parsePiece(`{${before}null}`, parsing) as object);
  if (key === undefined || others.length > 0) throw new SyntaxError('expected one key');
  return key;
}

function parsePiece(text: string, { onPiece }: StepwiseParsing): Json {
  const value = parseJson(text);
  onPiece(value);
  return value;
}

/** Returns the position of the quote that ends the JSON string at `start`. At or beyond the length of the text if the string has no end. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

const [quote, backslash, comma, openArray, closeArray, openObject, closeObject] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d];
