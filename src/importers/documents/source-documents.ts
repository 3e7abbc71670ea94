import { MusterError } from '../../core/errors.ts';
import type { DocumentProblem } from '../../core/json/documents.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { withoutServerFields } from '../../manifests/portable-object.ts';
import { isList } from '../../manifests/read-manifests.ts';
import { yamlDocumentsInSteps } from '../../manifests/yaml-documents.ts';

/** One Kubernetes object of the input, or one document that is no Kubernetes object. */
export interface SourceDocument {
  /** The index of the document in the input, from 0. The items of a list have the index of their list. */
  readonly index: number;
  /** The path of the object in the input, such as `[2]` or `[2].items[0]`. Paths of notes start with it. */
  readonly path: string;
  /** Absent if the document has no apiVersion, kind or name, or has a `problem`: it is no Kubernetes object. `object` is then absent too. */
  readonly key?: ObjectKey;
  /** The object without `status` and without the metadata that a server fills in (`withoutServerFields`). */
  readonly object?: JsonObject;
  /** The uid of the object in its cluster. Karmada decides ties with it. Absent for an object that was never in a cluster. */
  readonly uid?: string;
  /** The reason why an API server refuses the object: its name or its namespace is not a string. Absent for all other documents. */
  readonly problem?: DocumentProblem;
}

/** A document that is a Kubernetes object. */
export type ObjectDocument = SourceDocument & Required<Pick<SourceDocument, 'key' | 'object'>>;

/**
 * Reads the documents of a YAML or JSON text. Empty documents are left out, and each list is replaced by its items.
 *
 * @throws {MusterError} `BAD_INPUT` with the line, if the text is no YAML or exceeds a limit of manifests (`readYamlDocuments`).
 */
export function* sourceDocumentsOf(text: string): Steps<readonly SourceDocument[]> {
  const read = yield* yamlDocumentsInSteps(text);
  if (read.result === 'refused') throw new MusterError('BAD_INPUT', read.message);
  return indexedDocuments(read.documents);
}

/** Numbers documents from 0, and replaces each list by its items. */
export function indexedDocuments(documents: readonly Json[]): readonly SourceDocument[] {
  return documents.flatMap((json, index) => documentsIn(json, index, `[${index}]`));
}

function documentsIn(json: Json, index: number, path: string): readonly SourceDocument[] {
  if (!isList(json)) return [sourceDocumentOf(json, index, path)];
  const items = listAt(json, 'items');
  // An empty list stays a document, so that the result mentions every document of the input.
  if (items.length === 0) return [{ index, path }];
  return items.flatMap((item, at) => documentsIn(withKindOfList(item, json), index, `${path}.items[${at}]`));
}

/** Items of a `DeploymentList` may leave out the kind and the version that their list implies. */
function withKindOfList(item: Json, list: Json): Json {
  const [kind, apiVersion] = [textAt(list, 'kind') ?? '', textAt(list, 'apiVersion') ?? ''];
  if (kind === 'List' || !isJsonObject(item)) return item;
  return { apiVersion, kind: kind.slice(0, -'List'.length), ...item };
}

/** Makes the document of one object, or of a value that is no object. */
export function sourceDocumentOf(json: Json, index: number, path = `[${index}]`): SourceDocument {
  const [apiVersion, kind, name] = [textAt(json, 'apiVersion'), textAt(json, 'kind'), textAt(json, 'metadata', 'name')];
  if (!isJsonObject(json) || apiVersion === undefined || kind === undefined) return { index, path };
  const problem = problemOfNames(json, path);
  if (problem !== undefined) return { index, path, problem };
  if (name === undefined) return { index, path };
  const [namespace, uid] = [textAt(json, 'metadata', 'namespace'), textAt(json, 'metadata', 'uid')];
  return {
    index,
    path,
    key: { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name },
    object: withoutServerFields(json),
    ...(uid === undefined ? {} : { uid }),
  };
}

/**
 * Returns the problem of an object whose name or namespace is no text. Such a value is often one without quotes: YAML reads `y` as a
 * boolean and `10` as a number. Null counts as absent. Undefined if both are texts or absent. `path` is the path of the object.
 */
export function problemOfNames(object: Json, path: string): DocumentProblem | undefined {
  const member = (['name', 'namespace'] as const).find((one) => !isTextOrNull(valueAt(object, 'metadata', one) ?? null));
  if (member === undefined) return undefined;
  const written = valueAt(object, 'metadata', member);
  const got = JSON.stringify(written).slice(0, 80);
  const message = `expected a text, got ${got}. YAML reads y, no and on as booleans, and 10 as a number, if they have no quotes`;
  return { path: `${path}.metadata.${member}`, message };
}

function isTextOrNull(value: Json): boolean {
  return value === null || typeof value === 'string';
}

/** True if the document is a Kubernetes object. */
export function isSourceObject(document: SourceDocument): document is ObjectDocument {
  return document.key !== undefined;
}

/**
 * Returns the name of the Propagation of a resource: its name and its kind in lower case, as Karmada names bindings. A colon, as in the names of
 * RBAC resources, becomes a dot. Other characters stay, so the name may be invalid.
 */
export function propagationNameOf({ name, kind }: Pick<ObjectKey, 'name' | 'kind'>): string {
  return `${name}-${kind}`.toLowerCase().replaceAll(':', '.');
}
