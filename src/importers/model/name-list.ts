import { shortenedList } from '../../core/text.ts';

/** Maximum number of names in a list. */
const maxNames = 10;

/** Maximum characters of the names in a list. A note of a Propagation has at most 4096 characters, and may have two lists. */
const maxCharacters = 1000;

/** Returns the first 10 names, or fewer if they are very long, and the number of the others: `a, b and 3 more`. */
export function nameListOf(names: readonly string[]): string {
  let shown = 0;
  let characters = 0;
  for (const name of names.slice(0, maxNames)) {
    characters += name.length;
    if (shown > 0 && characters > maxCharacters) break;
    shown += 1;
  }
  return shortenedList(names, shown);
}
