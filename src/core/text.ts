/** Compares texts by their UTF-16 code units. The result is the same on every machine, while `localeCompare` depends on the language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Joins the first `max` texts, and adds the number of the others: `a, b and 3 more`. Empty if there are no texts. */
export function shortenedList(texts: readonly string[], max: number): string {
  const others = texts.length - max;
  return `${texts.slice(0, max).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

const encoder = new TextEncoder();

/** Returns the number of bytes of a text in UTF-8. Unlike `Buffer.byteLength`, it also runs in a browser. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}
