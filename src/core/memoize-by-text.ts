const maxTexts = 4_096;
const maxTextLength = 64;

/**
 * Wraps a pure function of a text so that it remembers its results, because a fleet repeats the same few texts. It remembers at most 4,096 texts of
 * up to 64 characters. When it is full, it forgets all of them.
 */
export function memoizeByText<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly found: T }>();
  return (text) => {
    if (text.length > maxTextLength) return read(text);
    const before = known.get(text);
    if (before !== undefined) return before.found;
    if (known.size >= maxTexts) known.clear();
    const found = read(text);
    known.set(text, { found });
    return found;
  };
}
