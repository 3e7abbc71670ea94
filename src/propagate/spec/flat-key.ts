import type { ObjectKey } from '../spec.ts';
import { optional, type RecordOf, required } from './codec.ts';
import { anyText } from './texts.ts';

/** The members of an object's key, which stands flat among others in our resources. */
export const keyFields = {
  apiVersion: required(anyText),
  kind: required(anyText),
  namespace: optional(anyText),
  name: required(anyText),
} as const;

/** The key apart from the members beside it. */
export function withKey<Flat extends RecordOf<typeof keyFields>>(
  flat: Flat,
): readonly [key: ObjectKey, rest: Omit<Flat, keyof typeof keyFields>] {
  const { apiVersion, kind, namespace, name, ...rest } = flat;
  return [{ apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name }, rest];
}
