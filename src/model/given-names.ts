/**
 * The place of a structure (an object inside a kind, such as its spec) or of a field: the kind (`Kind/group`), then the JSON keys that lead
 * there. List indexes are left out.
 */
export type NamedPlace = readonly string[];

/** The use of a name: for the type of the structure at a place, or for the field at this place. A kind also has two root fields, `many` and `one`. */
export type PlaceNameUse = 'type' | 'field' | 'many' | 'one';

/** Returns the key under which the name of a place is remembered. The key of a group or a kind (`Kind/group`) is its own text. */
export function keyOfPlace(use: PlaceNameUse, place: NamedPlace): string {
  return JSON.stringify([use, ...place]);
}

/** Returns the use of a name, from a key that `keyOfPlace` made. Undefined for keys of groups and kinds. */
export function useOfKey(key: string): string | undefined {
  return key.startsWith('["') ? key.slice(2, key.indexOf('"', 2)) : undefined;
}

/** Returns the kind (`Kind/group`) of a key that `keyOfPlace` made. Undefined for all other keys. */
export function kindOfPlaceKey(key: string): string | undefined {
  return placeOfPlaceKey(key)[0];
}

/** Returns the place of a key that `keyOfPlace` made. Empty for all other keys. */
export function placeOfPlaceKey(key: string): NamedPlace {
  if (!key.startsWith('[')) return [];
  try {
    const [, ...place] = JSON.parse(key) as readonly unknown[];
    return place.every((part) => typeof part === 'string') ? place : [];
  } catch {
    return [];
  }
}

/** True for the key of a kind (`Kind/group`). False for the key of a group or of a place. */
export function isKindKey(key: string): boolean {
  return !key.startsWith('[') && key.includes('/');
}
