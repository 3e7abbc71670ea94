import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';

/**
 * True if the value is a Secret or a FederatedSecret, or contains one at any depth, such as in a list or in the template of another object.
 * A reference to a Secret has neither metadata nor data, so it does not count.
 */
export function holdsSecret(value: Json): boolean {
  if (Array.isArray(value)) return value.some((item: Json) => holdsSecret(item));
  return isJsonObject(value) && (isSecretDocument(value) || Object.values(value).some((member = null) => holdsSecret(member)));
}

const contents: readonly string[] = ['metadata', 'data', 'stringData', 'items'];

function isSecretDocument(object: JsonObject): boolean {
  const kind = textAt(object, 'kind');
  if (kind === 'FederatedSecret' || kind === 'FederatedSecretList') return object.spec !== undefined || object.items !== undefined;
  const isCore = groupOfApiVersion(textAt(object, 'apiVersion') ?? '') === '';
  return (kind === 'Secret' || kind === 'SecretList') && isCore && contents.some((member) => object[member] !== undefined);
}
