/** A kind (`Kind/group`), then keys of its JSON: where a structure or a field is. Lists do not count. */
export type NamedPlace = readonly string[];

/** What at a place has a name: the type of its structure, or its field. Of a kind also its two root fields. */
export type PlaceNameUse = 'type' | 'field' | 'many' | 'one';

/** The key under which the name of a place is remembered. Groups and kinds (`Kind/group`) are keys as they are. */
export function keyOfPlace(use: PlaceNameUse, place: NamedPlace): string {
  return JSON.stringify([use, ...place]);
}

/** A key that `keyOfPlace` made, taken apart. Undefined for all others: those of groups and kinds too. */
export function parsePlaceKey(key: string): { readonly use: string; readonly place: NamedPlace } | undefined {
  if (!key.startsWith('[')) return undefined;
  try {
    const [use, ...place] = JSON.parse(key) as readonly unknown[];
    return typeof use === 'string' && place.every((step) => typeof step === 'string') ? { use, place } : undefined;
  } catch {
    return undefined;
  }
}

/** True for the key of a kind. */
export function isKindKey(key: string): boolean {
  return !key.startsWith('[') && key.includes('/');
}
