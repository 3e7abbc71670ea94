const maxTextLength = 1024;
const maxSegments = 32;

// A name up to the next dot or bracket, or text in brackets and quotes with JSON's escapes.
const segmentPattern = /(?:(^|\.)([^.[\]"'\s]+))|\[("(?:[^"\\]|\\.)*"|'[^'\\]*')\]/y;

/**
 * The segments of a dotted path. What holds a dot or a slash stands in brackets: `metadata.labels["a.b/c"]`.
 * Undefined if the text is no path: empty, longer than 1,024 characters or 32 segments, an index (`[0]`), a bracket without quotes.
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

/** The text that `parsePath` makes these segments of, brackets only where they are needed. */
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
