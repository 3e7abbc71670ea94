const maxTexts = 4_096;
const maxTextLength = 64;

/**
 * The same pure function of a text, which remembers what it found: a fleet says the same few texts over and over, and many questions are about the
 * same one. At most 4,096 texts of 64 characters each; all are forgotten when there are more.
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
