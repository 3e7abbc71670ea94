/** Longer than any first sentence worth reading in a schema. */
const maxDescriptionLength = 400;

// A full stop ends a sentence only before a capital or the end: "e.g. foo", "v1.2" and "i.e. the name" go on.
const sentenceEnd = /(?<!\b(?:e\.g|i\.e|etc|vs|cf))[.!?](?=\s+["'`(]?\p{Lu}|\s*$)/u;

/**
 * The first sentence of a description, on one line, at most 400 characters. A word that is one by itself ("Required.") goes with what it
 * begins. Undefined if there is none.
 */
export function firstSentence(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const [paragraph = ''] = text.trim().split(/\n\s*\n/);
  const line = paragraph.replace(/\s+/g, ' ').trim();
  if (line === '') return undefined;
  const [word = ''] = /^\w+\. (?=\S)/.exec(line) ?? [];
  const end = sentenceEnd.exec(line.slice(word.length));
  const sentence = end === null ? line : line.slice(0, word.length + end.index + 1);
  return sentence.length <= maxDescriptionLength ? sentence : `${sentence.slice(0, maxDescriptionLength - 1)}…`;
}

/**
 * The reason of a deprecation: what a description that starts with "Deprecated" says of it. Undefined for any other: most that mention the
 * word speak of something else.
 */
export function deprecationReasonOf(text: unknown): string | undefined {
  if (typeof text !== 'string' || !/^Deprecated\b/.test(text)) return undefined;
  const [, reason = ''] = /^Deprecated[\s.:,;-]*(.*)$/su.exec(text) ?? [];
  return firstSentence(reason) ?? 'Deprecated.';
}
