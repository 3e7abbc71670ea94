/**
 * Returns the schema's spelling of an enum value of Muster's resources: `SERVER_SIDE_APPLY` for `ServerSideApply`. It reverses
 * `resourceSpelling`. A word in lower case becomes upper case (`region`, `REGION`).
 */
export function schemaSpelling(value: string): string {
  return value.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Returns the resource spelling of an enum value of the schema: `ServerSideApply` for `SERVER_SIDE_APPLY`. */
export function resourceSpelling(value: string): string {
  return value
    .split('_')
    .map((word) => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join('');
}
