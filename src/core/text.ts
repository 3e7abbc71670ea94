/** Orders texts by their UTF-16 code units: the same on every machine, where `localeCompare` depends on its language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
