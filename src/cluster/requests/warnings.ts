/** Maximum number of warnings of one answer. An API server sends at most 4 KiB of them (apiserver, `warning.go`). */
const maxWarnings = 100;

/** Matches `299 - "text"`: a code, an agent and a quoted string (RFC 7234, 5.5). A date may follow, or a comma and the next warning. */
const pattern = /(?:^|,)\s*\d{3} \S+ "((?:[^"\\]|\\.)*)"/g;

/**
 * Returns the texts of `Warning` headers, in order: at most 100. Text that is not a warning by RFC 7234 is left out.
 *
 * @param values The header values, with one warning or several in each. Node gives one character for each byte.
 */
export function parseWarnings(values: readonly string[]): readonly string[] {
  const texts: string[] = [];
  for (const value of values) {
    for (const [, quoted = ''] of value.matchAll(pattern)) {
      if (texts.length === maxWarnings) return texts;
      texts.push(Buffer.from(quoted.replace(/\\(.)/g, '$1'), 'latin1').toString('utf8'));
    }
  }
  return texts;
}
