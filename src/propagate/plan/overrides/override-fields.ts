import { stringify } from 'yaml';
import { isJsonObject, isRawNumber, type Json, parseJsonExactly } from '../../../core/json.ts';
import { isDeeperThan } from '../../../manifests/json-edits.ts';
import { applyJsonPatch, type PatchAdapter } from '../../../manifests/json-patch.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { maxDepth, readYamlDocuments } from '../../../manifests/yaml-documents.ts';
import type { FieldOverride } from '../../model/spec.ts';
import { type ItemEdits, textToEdit } from './edits.ts';

/**
 * Patches a JSON or YAML document inside a text field of the object, and prints it back. YAML loses its comments and gets sorted keys. JSON
 * keeps the order of its keys. Fails if there is no text at `path`, if the text is not such a document, or if the patch fails.
 *
 * @param adapt Changes the operations before they apply. Default: they apply as RFC 6902 describes them.
 */
export function overrideField(object: Manifest, item: FieldOverride, adapt?: PatchAdapter): ItemEdits {
  const found = textToEdit(object, item.path);
  if (found.result === 'failed') return found;
  const { path, text } = found;
  const document = item.format === 'yaml' ? readYaml(text) : readJson(text);
  if (document === undefined) return failed('.path', `expected ${item.format.toUpperCase()} in the text at ${JSON.stringify(item.path)}`);
  const patched = applyJsonPatch(document, item.patch, adapt);
  if (patched.result === 'failed') return failed(`.patch[${patched.index}]`, patched.message);
  const value = item.format === 'yaml' ? printYamlSorted(patched.document) : JSON.stringify(patched.document);
  return { result: 'edits', edits: [{ path, value, replaces: true }], warnings: [] };
}

function failed(path: string, message: string): ItemEdits {
  return { result: 'failed', path, message };
}

/**
 * Parses a text with at most one YAML document. An empty text is null, as in kubectl. Undefined if the text is invalid or has several
 * documents.
 */
function readYaml(text: string): Json | undefined {
  const read = readYamlDocuments(text);
  if (read.result === 'refused' || read.documents.length > 1) return undefined;
  return read.documents[0] ?? null;
}

function readJson(text: string): Json | undefined {
  try {
    // JSON.parse comes first, because it accepts documents of any depth. parseJsonExactly recurses, so documents that are too deep must be
    // refused before it runs.
    return isDeeperThan(JSON.parse(text), maxDepth) ? undefined : parseJsonExactly(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Prints YAML as Kubernetes tools do: the items of a list are not indented below their key. */
function printYamlSorted(document: Json): string {
  return stringify(withBigInts(document), {
    version: '1.1',
    sortMapEntries: true,
    indentSeq: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
}

/** Replaces integers beyond 2⁵³ by bigints, because the YAML library can print these exactly. */
function withBigInts(value: Json): unknown {
  if (isRawNumber(value)) return BigInt(value.rawJSON);
  if (Array.isArray(value)) return value.map(withBigInts);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withBigInts(member ?? null)]));
}
