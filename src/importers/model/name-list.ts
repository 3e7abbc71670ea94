/** The most names that a note lists. */
const maxNames = 10;

/** The most characters of the names that a note lists. A note of a Propagation has at most 4096 characters, and may have two lists. */
const maxCharacters = 1000;

/** Returns the first 10 names, or fewer if they are very long, and the number of the others: `a, b and 3 more`. */
export function nameListOf(names: readonly string[]): string {
  const shown: string[] = [];
  let characters = 0;
  for (const name of names.slice(0, maxNames)) {
    characters += name.length;
    if (shown.length > 0 && characters > maxCharacters) break;
    shown.push(name);
  }
  const others = names.length - shown.length;
  return `${shown.join(', ')}${others === 0 ? '' : ` and ${others} more`}`;
}
