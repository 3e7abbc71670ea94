import { createRequire } from 'node:module';
import { stripVTControlCharacters } from 'node:util';

let stringWidth: ((text: string) => number) | undefined;

/** How many columns of a terminal the text takes. Colors take none, wide characters two. */
export function terminalWidth(text: string): number {
  const plain = stripVTControlCharacters(text);
  if (/^[ -~…└├─│]*$/.test(plain)) return plain.length;
  // Loading takes 40 ms of CPU, most of it for the pattern of all emoji: a start that shows nothing but ASCII does without.
  stringWidth ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return stringWidth(plain);
}
