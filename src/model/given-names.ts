/** A kind (`Kind/group`), then keys of its JSON: where a structure or a field is. Lists do not count. */
export type NamedPlace = readonly string[];

/** What at a place has a name: the type of its structure, or its field. Of a kind also its two root fields. */
export type PlaceNameUse = 'type' | 'field' | 'many' | 'one';

/** The key under which the name of a place is remembered. Groups and kinds (`Kind/group`) are keys as they are. */
export function keyOfPlace(use: PlaceNameUse, place: NamedPlace): string {
  return JSON.stringify([use, ...place]);
}

/** What a key is for that `keyOfPlace` made. Undefined for those of groups and kinds. */
export function useOfKey(key: string): string | undefined {
  return key.startsWith('["') ? key.slice(2, key.indexOf('"', 2)) : undefined;
}

/** The kind (`Kind/group`) of a key that `keyOfPlace` made. Undefined for all others. */
export function kindOfKey(key: string): string | undefined {
  return placeOfKey(key)[0];
}

/** The place of a key that `keyOfPlace` made. Empty for all others. */
export function placeOfKey(key: string): NamedPlace {
  if (!key.startsWith('[')) return [];
  try {
    const [, ...place] = JSON.parse(key) as readonly unknown[];
    return place.every((part) => typeof part === 'string') ? place : [];
  } catch {
    return [];
  }
}

/** True for the key of a kind. */
export function isKindKey(key: string): boolean {
  return !key.startsWith('[') && key.includes('/');
}
