import { groupOfApiVersion, keyOfKind } from '../kinds.ts';

/** Identifies an object in an answer, without its cluster. */
export interface NamedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string | null };
}

/** Key of an object in an answer, without its cluster. */
export interface AnsweredKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}

/** The GraphQL selection that gives an `AnsweredKey`. */
export const answeredKeyFields = 'apiVersion kind namespace name';

/** Converts an `AnsweredKey` to a `NamedObject`. */
export function objectOfKey({
  apiVersion,
  kind,
  namespace,
  name,
}: Pick<NamedObject, 'apiVersion' | 'kind'> & NamedObject['metadata']): NamedObject {
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}

/** Returns `pod/web` or `deployment.apps/web`, as kubectl names objects. */
export function kindAndName({ apiVersion, kind, metadata }: NamedObject): string {
  return `${keyOfKind({ group: groupOfApiVersion(apiVersion), kind: kind.toLowerCase() })}/${metadata.name}`;
}

/** Returns `north/shop/pod/web`. The name always has four parts; the namespace is empty for a cluster-scoped object. */
export function fullObjectName(cluster: string, object: NamedObject): string {
  return `${cluster}/${object.metadata.namespace ?? ''}/${kindAndName(object)}`;
}
