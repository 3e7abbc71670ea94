/** Compares texts by their UTF-16 code units. The result is the same on every machine, while `localeCompare` depends on the language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
