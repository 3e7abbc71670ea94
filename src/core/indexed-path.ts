/** The path of a note in an import, such as `[3].spec.template`: the index of the document, and the path in it. */
interface IndexedPath {
  readonly index: number;
  /** The path in the document, such as `spec.template`. Empty: the note is about the whole document. */
  readonly inside: string;
}

/** Splits a path that begins with the index of a document. Undefined if it does not. */
export function indexedPathOf(path: string): IndexedPath | undefined {
  const [, digits, inside = ''] = /^\[(\d+)\]\.?(.*)$/s.exec(path) ?? [];
  return digits === undefined ? undefined : { index: Number(digits), inside };
}

/** The fields of an object key that name the object for people. */
interface NamedKey {
  readonly kind: string;
  readonly namespace?: string | null | undefined;
  readonly name: string;
}

/** Returns the kind and the name of an object for messages: `FederatedDeployment shop/web`. */
export function objectTextOf({ kind, namespace, name }: NamedKey): string {
  return `${kind} ${namespace == null ? '' : `${namespace}/`}${name}`;
}

/**
 * Replaces the index of a path by the object: `FederatedDeployment shop/web spec.template`. For objects of a cluster, an index tells a
 * reader nothing. Returns the path itself if it has no index, or if the object is unknown.
 */
export function pathWithObject(path: string, keyOf: (index: number) => NamedKey | undefined): string {
  const indexed = indexedPathOf(path);
  const key = indexed && keyOf(indexed.index);
  if (indexed === undefined || key === undefined) return path;
  return indexed.inside === '' ? objectTextOf(key) : `${objectTextOf(key)} ${indexed.inside}`;
}
