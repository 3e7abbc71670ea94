import { isJsonObject, isRawNumber, type Json, type JsonObject } from '../json.ts';

/**
 * The object as YAML that kubectl reads back to the same object: whatever YAML 1.1 or 1.2 would take for something other than text stands in
 * quotes, texts of several lines are blocks, long ones are not folded, shared parts are repeated, integers beyond 2⁵³ keep their digits.
 *
 * A printer of our own, as a page of 500 objects must not hold everybody else up: it takes a thirtieth of the time of the library `yaml`,
 * which asks of each scalar what any of its tags would make of it. Where a text is not plainly plain, this one quotes it.
 */
export function printYaml(object: JsonObject): string {
  return printMap(object, '') || '{}\n';
}

const step = '  ';

/** A line for each entry, and what stands below it. Empty for an empty map. */
function printMap(map: JsonObject, indent: string): string {
  let text = '';
  for (const [key, value] of Object.entries(map)) {
    if (value !== undefined) text += `${indent}${printKey(key, indent)}:${printValue(value, indent)}`;
  }
  return text;
}

function printList(list: readonly Json[], indent: string): string {
  let text = '';
  for (const item of list) text += `${indent}-${printItem(item, indent)}`;
  return text;
}

/** What follows the colon. */
function printValue(value: Json, indent: string): string {
  const below = printBelow(value, indent);
  return below === undefined ? ` ${printScalar(value, indent)}\n` : `\n${below}`;
}

/** What follows the dash: the first line of a map or a list stands beside it. */
function printItem(item: Json, indent: string): string {
  const below = printBelow(item, indent);
  return below === undefined ? ` ${printScalar(item, indent)}\n` : ` ${below.slice(indent.length + step.length)}`;
}

/** The lines of a map or a list. Undefined for what stands on the line itself. */
function printBelow(value: Json, indent: string): string | undefined {
  if (Array.isArray(value)) return printList(value, indent + step) || undefined;
  return isJsonObject(value) ? printMap(value, indent + step) || undefined : undefined;
}

function printScalar(value: Json, indent: string): string {
  if (typeof value === 'string') return printText(value, indent);
  if (Array.isArray(value)) return '[]';
  if (isJsonObject(value)) return '{}';
  return isRawNumber(value) ? value.rawJSON : JSON.stringify(value);
}

// A reader takes a key without a question mark only on one line of at most 1,024 characters (YAML 1.2, 7.4.2).
const maxImplicitKeyLength = 1_000;

function printKey(key: string, indent: string): string {
  const text = isPlain(key) ? key : quoted(key);
  return text.length <= maxImplicitKeyLength ? text : `? ${text}\n${indent}`;
}

function printText(text: string, indent: string): string {
  if (isPlain(text)) return text;
  return isBlock(text) ? printBlock(text, indent + step) : quoted(text);
}

// What begins with a letter or a slash is no number, no time and no mark; a colon or a space is one only beside another space.
const plain = /^[A-Za-z/](?:[ :]?[\w./+@=,-])*$/;
// Some readers take an exponent alone for a number.
const notText = /^(?:y|n|yes|no|on|off|true|false|null|e[-+]?\d+)$/i;
const maxPlainLength = 200;

function isPlain(text: string): boolean {
  return text.length <= maxPlainLength && plain.test(text) && !notText.test(text);
}

// Line breaks and marks to a YAML 1.1 reader, or not printable to it; to JSON characters like any other. Characters that change the direction of text
// are escaped too: on a terminal they would show a text other than the one that is stored.
const mustBeEscaped = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\p{Bidi_Control}]/gu;
// Control characters, and lines of which a reader cannot tell whether their white space belongs to the text.
const notInBlock = /[^\P{Cc}\t\n]|[\u2028\u2029\ufeff\ufffe\uffff\p{Bidi_Control}]|^\s|\n[ \t]+(?:\n|$)|\n\n$/u;

function isBlock(text: string): boolean {
  return text.includes('\n') && text.isWellFormed() && !notInBlock.test(text);
}

function printBlock(text: string, indent: string): string {
  const ends = text.endsWith('\n');
  const lines = (ends ? text.slice(0, -1) : text).split('\n');
  return [ends ? '|' : '|-', ...lines.map((line) => (line === '' ? '' : indent + line))].join('\n');
}

/** What JSON writes is what YAML reads between double quotes, but for a few characters. */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(mustBeEscaped, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
