import type { VersionedResource } from '../../cluster/served-resources.ts';
import type { JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { LivingList } from './cluster-reader.ts';

/** Maximum number of objects that are requested by their names. For more, the whole kind is listed. */
const maxNames = 20;

/** The objects to list. Without `name`, those of every name; without `namespace`, those of every namespace. An empty text counts as absent. */
interface ListedSelector {
  readonly namespace?: string | null;
  readonly name?: string | null;
}

/**
 * Returns the lists that contain all selected objects: one for each name, or one for the whole kind. They may contain others too.
 *
 * @param namespaces The namespaces of selectors without one. Undefined: all namespaces.
 */
export function listsFor(
  kind: VersionedResource,
  selectors: readonly ListedSelector[],
  namespaces: readonly string[] | undefined,
): readonly LivingList[] {
  const places = selectors.map(({ namespace, name }) => ({ namespace: namespace ?? '', name: name ?? '' }));
  const names = new Map(places.map((place) => [`${place.namespace}/${place.name}`, place]));
  if (names.size > maxNames || places.some(({ name }) => name === '')) {
    const own = [...new Set(places.map(({ namespace }) => namespace))];
    return [{ kind, namespaces: own.includes('') ? namespaces : own, fieldSelector: fieldsOf(kind).join(',') }];
  }
  return [...names.values()].map(({ namespace, name }) => ({
    kind,
    namespaces: namespace === '' ? namespaces : [namespace],
    fieldSelector: [...fieldsOf(kind), `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`].join(','),
  }));
}

/** Returns the namespace and the name of an object as one text. */
export function placeOf(json: JsonObject): string {
  return `${textAt(json, 'metadata', 'namespace') ?? ''}/${textAt(json, 'metadata', 'name') ?? ''}`;
}

/** Returns the field selectors that leave out resources that Karmada never propagates: the tokens of ServiceAccounts. */
function fieldsOf(kind: VersionedResource): readonly string[] {
  return keyOfKind(kind) === 'Secret' ? ['type!=kubernetes.io/service-account-token'] : [];
}
