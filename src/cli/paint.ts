/** Gives a text a color or a weight: the code is that of SGR (ECMA-48), such as 31 for red. Or leaves it as it is. */
export type Paint = (code: number, text: string) => string;

/** As the terminal likes it. */
export function paintFor({ hasColor }: { readonly hasColor: boolean }): Paint {
  return hasColor ? (code, text) => `\x1b[${code}m${text}\x1b[0m` : (_code, text) => text;
}
