/**
 * `SERVER_SIDE_APPLY` for `ServerSideApply`: an enum value of our resources as the schema spells it. The reverse of `resourceSpelling` for whatever
 * is such a value; a word in lower case comes out in capitals (`region`, `REGION`).
 */
export function schemaSpelling(value: string): string {
  return value.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** `ServerSideApply` for `SERVER_SIDE_APPLY`: an enum value of the schema as our resources spell it. */
export function resourceSpelling(value: string): string {
  return value
    .split('_')
    .map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join('');
}
