import { textOfKey } from '../../manifests/object-key.ts';
import { isSourceObject, type ObjectDocument, type SourceDocument } from './source-documents.ts';

/** An object that the input has again in a later document. */
export interface RepeatedObject {
  readonly document: ObjectDocument;
  /** The last document with the same object. */
  readonly last: ObjectDocument;
}

/** The documents of an input, divided by whether a later document has the same object. */
interface DividedDocuments {
  /** The documents that count: for each object the last one, and all documents that are no object. In the order of the input. */
  readonly latest: readonly SourceDocument[];
  readonly repeated: readonly RepeatedObject[];
}

/**
 * Finds objects that are in the input more than once. The last document of an object counts, as after `kubectl apply` of all documents. The
 * version of the API does not matter, and an object without a namespace is the one in the namespace `default`.
 */
export function divideRepeatedObjects(documents: readonly SourceDocument[]): DividedDocuments {
  const lastByKey = new Map(documents.filter(isSourceObject).map((document) => [identityOf(document), document]));
  const latest: SourceDocument[] = [];
  const repeated: RepeatedObject[] = [];
  for (const document of documents) {
    const last = isSourceObject(document) ? lastByKey.get(identityOf(document)) : undefined;
    if (last === undefined || last === document || !isSourceObject(document)) latest.push(document);
    else repeated.push({ document, last });
  }
  return { latest, repeated };
}

function identityOf({ key }: ObjectDocument): string {
  // An empty namespace counts as absent.
  return textOfKey({ ...key, namespace: key.namespace || 'default' });
}
