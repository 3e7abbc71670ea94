import { anyText } from '../../core/json/field-definitions.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';

/** The fields of an object's key. Resources hold them next to other fields, not in a structure of their own. */
export const objectKeyFields = {
  apiVersion: anyText.describe('The API version of the object, such as `apps/v1`.'),
  kind: anyText.describe('The kind of the object, such as `Deployment`.'),
  namespace: anyText.exactOptional().describe('The namespace of the object. Absent for cluster-scoped kinds.'),
  name: anyText.describe('The name of the object.'),
};

/** Separates the fields of an object's key from the other fields. */
export function withKey<Flat extends ObjectKey>(flat: Flat): readonly [key: ObjectKey, rest: Omit<Flat, keyof ObjectKey>] {
  const { apiVersion, kind, namespace, name, ...rest } = flat;
  return [{ apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name }, rest];
}
