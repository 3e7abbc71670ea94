const maxTextLength = 1024;
const maxSegments = 32;

// Matches a name up to the next dot or bracket, or a text in brackets and quotes with the escapes of JSON.
const segmentPattern = /(?:(^|\.)([^.[\]"'\s]+))|\[("(?:[^"\\]|\\.)*"|'[^'\\]*')\]/y;

/**
 * Splits a dotted path into its segments. A segment with a dot, a bracket, a quote or a space is written in brackets:
 * `metadata.labels["a.b/c"]`. Undefined for a text that is no path: empty, longer than 1,024 characters or 32 segments, with an index
 * (`[0]`), or with a bracket without quotes.
 */
export function parsePath(text: string): readonly string[] | undefined {
  if (text.length === 0 || text.length > maxTextLength) return undefined;
  const segments: string[] = [];
  let position = 0;
  while (position < text.length) {
    segmentPattern.lastIndex = position;
    const match = segmentPattern.exec(text);
    const segment = match === null ? undefined : segmentOf(match);
    if (match === null || segment === undefined || segment === '' || (position === 0 && match[1] === '.')) return undefined;
    segments.push(segment);
    position += match[0].length;
  }
  return segments.length > maxSegments ? undefined : segments;
}

/** Prints segments so that `parsePath` returns them. Brackets are used only where necessary. */
export function printPath(segments: readonly string[]): string {
  return segments
    .map((segment, index) => (/[.[\]"'\s]/.test(segment) ? `[${JSON.stringify(segment)}]` : `${index === 0 ? '' : '.'}${segment}`))
    .join('');
}

function segmentOf(match: RegExpExecArray): string | undefined {
  const [, , name, quoted] = match;
  if (quoted === undefined) return name;
  if (quoted.startsWith("'")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}
