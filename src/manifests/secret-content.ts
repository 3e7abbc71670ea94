import { isJsonObject, type JsonObject } from '../core/json.ts';
import { textAt } from '../core/json-at.ts';
import { withoutValueAt } from './json-edits.ts';

/** True for a token Secret. Its cluster fills in the data: a token that only this cluster accepts. */
export function isTokenSecret(secret: JsonObject): boolean {
  return secret.type === 'kubernetes.io/service-account-token';
}

/** Returns the name of the ServiceAccount to which a token Secret belongs. Undefined for other Secrets. Only metadata are read. */
export function tokenAccountOf(secret: JsonObject): string | undefined {
  return textAt(secret, 'metadata', 'annotations', 'kubernetes.io/service-account.name');
}

/** Returns a token Secret without the fields that its cluster fills in. */
export function withoutToken<T extends JsonObject>(secret: T): T {
  return filledFields.reduce<T>(withoutValueAt, secret);
}

const filledFields: readonly (readonly string[])[] = [['data'], ['metadata', 'annotations', 'kubernetes.io/service-account.uid']];

/**
 * Returns the manifest of a copy of a Secret with its data, and with its type if the manifest has none. A token never leaves its cluster: the
 * copy of a token Secret has no data, and the cluster of the copy issues a token of its own. The result must not be stored, hashed or
 * logged.
 */
export function withSecretContent<T extends JsonObject>(manifest: T, secret: JsonObject): T {
  const { data, type } = secret;
  const typed = typeof type === 'string' && manifest.type === undefined ? { ...manifest, type } : manifest;
  if (isTokenSecret(secret) || isTokenSecret(typed)) return withoutToken(typed);
  return isJsonObject(data) ? { ...typed, data } : typed;
}
