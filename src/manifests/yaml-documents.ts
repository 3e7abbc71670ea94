import { Composer, type CST, Lexer, Parser } from 'yaml';
import type { Json } from '../core/json.ts';
import { runAtOnce, type Steps } from '../core/scheduling/operation-scheduler.ts';
import { utf8Length } from '../core/text.ts';
import { readJsonDocument } from './read-json-document.ts';
import { valueOfDocument, YamlRefusal } from './yaml-value.ts';

/** The result of reading a YAML text. A message has the line, counted from 1, and what was expected there. It never contains values. */
export type YamlDocuments =
  | { readonly result: 'read'; readonly documents: readonly Json[] }
  | { readonly result: 'refused'; readonly message: string };

/** The maximum size of a text of manifests, in bytes of UTF-8. It is the limit of the API server for one request. */
export const maxManifestBytes = 3 * 1024 * 1024;

/** The maximum number of documents in a text. */
export const maxDocuments = 1_000;
/** The maximum number of nested levels of lists and maps in one document. */
export const maxDepth = 200;

/**
 * The maximum number of words, marks and line breaks in one document that is read as YAML. A document with that many takes about 1 s to read,
 * and its longest step about 0.3 s. No object that fits into etcd has more.
 */
const maxLexemes = 400_000;

/** The number of words and marks that one step parses. They take about 0.5 ms. */
const lexemesPerStep = 250;

/**
 * Reads the documents of a YAML text in order, as kubectl does (docs/internals/propagation.md 2.3). Leaves out empty documents: those with
 * nothing, only comments, or null. A document that is a JSON object is read as JSON, which is about 20 times faster.
 *
 * As in kubectl, a line that starts with `---` ends a document. Such a line may contain only a comment after the dashes.
 *
 * Stricter than kubectl, it refuses duplicate keys, custom tags, integers beyond 64 bits, and several documents without `---` between them.
 * Texts that are too large, have too many documents or are too deep are refused before they are parsed completely.
 */
export function readYamlDocuments(text: string): YamlDocuments {
  return runAtOnce(yamlDocumentsInSteps(text));
}

/**
 * Like `readYamlDocuments`, but the caller can interrupt it, also within a document. The longest step takes about 0.3 s, in a document with the
 * maximum number of words and marks.
 */
export function* yamlDocumentsInSteps(text: string): Steps<YamlDocuments> {
  if (utf8Length(text) > maxManifestBytes) return refused(`expected at most ${maxManifestBytes} bytes of YAML, got more`);
  const documents: Json[] = [];
  try {
    for (const chunk of chunksOf(text)) {
      const document = yield* readChunk(chunk);
      if (document !== null) documents.push(document);
      yield;
    }
  } catch (error) {
    if (!(error instanceof YamlRefusal)) throw error;
    return refused(`line ${lineOf(text, error.offset)}: ${error.message}`);
  }
  return { result: 'read', documents };
}

function refused(message: string): YamlDocuments {
  return { result: 'refused', message };
}

/** The text between two `---` lines. */
interface DocumentText {
  readonly text: string;
  /** The offset of `text` in the whole text. */
  readonly offset: number;
}

/** Splits a text into documents, before any of them is parsed. So a text with too many documents is refused quickly. */
function chunksOf(text: string): readonly DocumentText[] {
  const chunks: DocumentText[] = [];
  let begin = 0;
  for (const match of text.matchAll(/^---(.*)(?:\n|$)/gm)) {
    if (!/^\s*(?:#.*)?$/.test(match[1] ?? ''))
      throw new YamlRefusal('expected nothing but a comment after the --- that starts a document', match.index);
    chunks.push({ text: text.slice(begin, match.index), offset: begin });
    begin = match.index + match[0].length;
    if (chunks.length >= maxDocuments) throw new YamlRefusal(`expected at most ${maxDocuments} documents, got more`, match.index);
  }
  return [...chunks, { text: text.slice(begin), offset: begin }];
}

// Characters that YAML 1.1 allows only as escapes (5.1), and U+0085, a line break in YAML 1.1 only.
const unprintable = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Cs}/u;

function* readChunk({ text, offset }: DocumentText): Steps<Json> {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text;
  const shift = offset + text.length - source.length;
  try {
    const odd = unprintable.exec(source);
    if (odd !== null) throw new YamlRefusal('expected no control characters', odd.index);
    // The YAML parser counts two levels more than a JSON document has.
    return readJsonDocument(source, maxDepth - 2) ?? (yield* readSource(source));
  } catch (error) {
    throw error instanceof YamlRefusal ? new YamlRefusal(error.message, shift + error.offset) : error;
  }
}

function* readSource(source: string): Steps<Json> {
  // The failsafe schema reads all scalars as texts. Then `readPlainScalar` decides their types.
  const composer = new Composer({ schema: 'failsafe', version: '1.2', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  const [document, another] = [...composer.compose(yield* tokensOf(source))];
  yield;
  if (document === undefined) return null;
  const problem = document.errors[0];
  if (problem !== undefined) throw new YamlRefusal(`expected YAML, got ${problem.code.toLowerCase().replaceAll('_', ' ')}`, problem.pos[0]);
  if (another !== undefined) throw new YamlRefusal('expected --- before another document', another.range[0]);
  return valueOfDocument(document);
}

/**
 * Parses a document into tokens, in short steps. This is most of the work. The parser does not recurse, but later code does. So documents that
 * are nested too deeply are refused here.
 */
function* tokensOf(source: string): Steps<readonly CST.Token[]> {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(source)) {
    lexemes += 1;
    if (lexemes > maxLexemes)
      throw new YamlRefusal(`expected at most ${maxLexemes} words and marks in a document, got more`, parser.offset);
    for (const token of parser.next(lexeme)) {
      if (token.type === 'directive') throw new YamlRefusal('expected no directive', token.offset);
      tokens.push(token);
    }
    if (lexemes % lexemesPerStep === 0) yield;
    if (parser.stack.length > maxDepth) throw new YamlRefusal(`expected at most ${maxDepth} levels, got more`, parser.offset);
  }
  tokens.push(...parser.end());
  return tokens;
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
