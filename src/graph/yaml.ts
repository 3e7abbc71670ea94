import { Document, type Scalar, visit } from 'yaml';
import { isRawNumber, type JsonObject } from '../core/json.ts';

// Line breaks and marks to a YAML 1.1 reader, or not printable to it; to JSON, and so to the printer, characters like any other.
const mustBeEscaped = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;
// Texts of several lines whose white space the printer's blocks lose (yaml 2.9.1, "\n" for " \n" deep in lists).
const notInBlock = /\r|^\s[\s\S]*\n|[ \t]\n|\n[ \t]+$/;
const allThatMustBeEscaped = new RegExp(mustBeEscaped, 'g');

/**
 * The object as YAML that kubectl reads back to the same object: whatever YAML 1.1 or 1.2 would take for something other than text stands in
 * quotes, long texts are not folded, shared parts are repeated, integers beyond 2⁵³ keep their digits.
 */
export function printYaml(object: JsonObject): string {
  const document = new Document(object, exactly, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node: Scalar) {
      if (typeof node.value === 'string' && (mustBeEscaped.test(node.value) || notInBlock.test(node.value))) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 }).replace(allThatMustBeEscaped, escaped);
}

function exactly(_key: unknown, value: unknown): unknown {
  return isRawNumber(value) ? BigInt(value.rawJSON) : value;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
