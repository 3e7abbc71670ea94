import { groupOfApiVersion, keyOfKind } from '../../core/kinds.ts';

/** Which object, as the graph tells it. */
export interface NamedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string | null };
}

/** Which object, in whatever cluster. */
export interface AnsweredKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}

/** The selection of an `AnsweredKey`. */
export const answeredKeyFields = 'apiVersion kind namespace name';

/** The object that a key names. */
export function objectOfKey({
  apiVersion,
  kind,
  namespace,
  name,
}: Pick<NamedObject, 'apiVersion' | 'kind'> & NamedObject['metadata']): NamedObject {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}

/** `pod/web`, `deployment.apps/web`: as kubectl names an object of any kind. */
export function kindAndName({ apiVersion, kind, metadata }: NamedObject): string {
  return `${keyOfKind({ group: groupOfApiVersion(apiVersion), kind: kind.toLowerCase() })}/${metadata.name}`;
}

/** `north/shop/pod/web`, always of four parts: that of the namespace is empty for what has none. */
export function fullObjectName(cluster: string, object: NamedObject): string {
  return `${cluster}/${object.metadata.namespace ?? ''}/${kindAndName(object)}`;
}
