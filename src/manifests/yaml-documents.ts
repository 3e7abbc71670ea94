import { Composer, type CST, Lexer, Parser } from 'yaml';
import type { Json } from '../core/json.ts';
import { valueOfDocument, YamlRefusal } from './yaml-value.ts';

/** What a text of YAML came to. A message says what was expected and at which line, counted from 1, and holds no value. */
export type YamlDocuments =
  | { readonly result: 'read'; readonly documents: readonly Json[] }
  | { readonly result: 'refused'; readonly message: string };

/** Most bytes of a text of manifests, as UTF-8: what the API server takes in one request. */
export const maxManifestBytes = 3 * 1024 * 1024;

/** Most documents in a text, and most levels of lists and maps in one. */
export const maxDocuments = 1_000;
export const maxDepth = 200;

/** Most words, marks and line breaks in one document: about a second of reading, and more than any object that etcd takes has. */
const maxLexemes = 400_000;

/**
 * The documents of a text as kubectl reads them (docs/internals/propagation.md 2.3), in order; empty ones (nothing, comments, null) are left out.
 *
 * As kubectl does it, a line that begins with `---` ends a document, and nothing but a comment may stand beside it. Stricter than kubectl: a key stands
 * once, no tags of one's own, no integers beyond 64 bits, one document between two such lines. What is too large, too many or too deep is refused before
 * it is parsed whole.
 */
export function readYamlDocuments(text: string): YamlDocuments {
  if (Buffer.byteLength(text) > maxManifestBytes) return refused(`expected at most ${maxManifestBytes} bytes of YAML, got more`);
  const documents: Json[] = [];
  try {
    for (const chunk of chunksOf(text)) {
      const document = readChunk(chunk);
      if (document !== null) documents.push(document);
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

/** A part of the text between two separators. */
interface DocumentText {
  readonly text: string;
  /** Where it begins in the whole text. */
  readonly offset: number;
}

/** All before anything is parsed, so that too many are refused at once. */
function chunksOf(text: string): readonly DocumentText[] {
  const chunks: DocumentText[] = [];
  let begin = 0;
  for (const match of text.matchAll(/^---(.*)(?:\n|$)/gm)) {
    if (!/^\s*(?:#.*)?$/.test(match[1] ?? '')) throw new YamlRefusal('expected nothing beside the --- that begins a document', match.index);
    chunks.push({ text: text.slice(begin, match.index), offset: begin });
    begin = match.index + match[0].length;
    if (chunks.length >= maxDocuments) throw new YamlRefusal(`expected at most ${maxDocuments} documents, got more`, match.index);
  }
  return [...chunks, { text: text.slice(begin), offset: begin }];
}

// What YAML 1.1 does not let stand in a text unescaped (5.1), and the line break that only it has.
const unprintable = /[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\p{Cs}/u;

function readChunk({ text, offset }: DocumentText): Json {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text;
  const shift = offset + text.length - source.length;
  try {
    const odd = unprintable.exec(source);
    if (odd !== null) throw new YamlRefusal('expected no control characters', odd.index);
    return readSource(source);
  } catch (error) {
    throw error instanceof YamlRefusal ? new YamlRefusal(error.message, shift + error.offset) : error;
  }
}

function readSource(source: string): Json {
  // Scalars as texts: what they mean is decided by `readPlainScalar` alone.
  const composer = new Composer({ schema: 'failsafe', version: '1.2', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  const [document, another] = [...composer.compose(tokensOf(source))];
  if (document === undefined) return null;
  const problem = document.errors[0];
  if (problem !== undefined) throw new YamlRefusal(`expected YAML, got ${problem.code.toLowerCase().replaceAll('_', ' ')}`, problem.pos[0]);
  if (another !== undefined) throw new YamlRefusal('expected --- before another document', another.range[0]);
  return valueOfDocument(document);
}

/** The parser keeps open collections on a stack of its own. A document that is nested too deeply is refused here, before later code recurses into it. */
function tokensOf(source: string): readonly CST.Token[] {
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
