import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';

let stringWidth: ((text: string) => number) | undefined;

/** Returns the number of terminal columns that a text takes. Colors take none, wide characters take two. */
export function terminalWidth(text: string): number {
  const plain = stripVTControlCharacters(text);
  if (/^[ -~…└├─│]*$/.test(plain)) return plain.length;
  // Loading takes 40 ms of CPU, mainly for its emoji pattern. Starts that print only ASCII skip it.
  stringWidth ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return stringWidth(plain);
}
