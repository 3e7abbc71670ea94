/** Of one answer: an API server sends at most 4 KiB of them (apiserver, `warning.go`). */
const maxWarnings = 100;

/** `299 - "text"`: a code, an agent, a quoted string (RFC 7234, 5.5). Perhaps a date after it; perhaps a comma and the next. */
const pattern = /(?:^|,)\s*\d{3} \S+ "((?:[^"\\]|\\.)*)"/g;

/**
 * The texts of `Warning` headers, in order: at most 100. What is no warning by RFC 7234 is left out.
 *
 * @param values Of the headers, each with one warning or several; one character for each byte, as Node gives them.
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
