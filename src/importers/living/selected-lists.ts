import type { VersionedResource } from '../../cluster/served-resources.ts';
import type { JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { LivingList } from './cluster-reader.ts';

/** Maximum number of objects that are requested by their names. For more, the whole kind is listed. */
const maxNames = 20;

/** A selection of objects. Default of both fields: every value. An empty text counts as absent. */
interface ListedSelector {
  readonly namespace?: string | null;
  readonly name?: string | null;
}

/**
 * Returns the lists that contain all selected objects: one for each name, or one for the whole kind. They may also contain other objects.
 *
 * @param namespaces The namespaces for selectors that name no namespace. Undefined: all namespaces.
 */
export function listsFor(
  kind: VersionedResource,
  selectors: readonly ListedSelector[],
  namespaces: readonly string[] | undefined,
): readonly LivingList[] {
  const selected = selectors.map(({ namespace, name }) => ({ namespace: namespace ?? '', name: name ?? '' }));
  const names = new Map(selected.map((one) => [`${one.namespace}/${one.name}`, one]));
  if (names.size > maxNames || selected.some(({ name }) => name === '')) {
    const named = [...new Set(selected.map(({ namespace }) => namespace))];
    return [{ kind, namespaces: named.includes('') ? namespaces : named, fieldSelector: excludingSelectorsOf(kind).join(',') }];
  }
  return [...names.values()].map(({ namespace, name }) => ({
    kind,
    namespaces: namespace === '' ? namespaces : [namespace],
    fieldSelector: [...excludingSelectorsOf(kind), `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`].join(','),
  }));
}

/** Returns the namespace and the name of an object as one text. */
export function namespacedNameTextOf(json: JsonObject): string {
  return `${textAt(json, 'metadata', 'namespace') ?? ''}/${textAt(json, 'metadata', 'name') ?? ''}`;
}

/** Returns the field selectors that leave out the tokens of ServiceAccounts, which Karmada never propagates. Empty for kinds other than Secret. */
function excludingSelectorsOf(kind: VersionedResource): readonly string[] {
  return keyOfKind(kind) === 'Secret' ? ['type!=kubernetes.io/service-account-token'] : [];
}
