/** Compares texts by their UTF-16 code units. The result is the same on every machine, while `localeCompare` depends on the language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

const encoder = new TextEncoder();

/** Returns the number of bytes of a text in UTF-8. Unlike `Buffer.byteLength`, it also runs in a browser. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}
