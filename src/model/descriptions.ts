/** Maximum length of a description, in characters. No useful first sentence is longer. */
const maxDescriptionLength = 400;

// A full stop ends a sentence only before a capital letter or at the end of the text, so "e.g. foo", "v1.2" and "i.e. the name" do not end
// one.
const sentenceEnd = /(?<!\b(?:e\.g|i\.e|etc|vs|cf))[.!?](?=\s+["'`(]?\p{Lu}|\s*$)/u;

/**
 * Returns the first sentence of a description, on one line, with at most 400 characters. A sentence of one word ("Required.") is joined with the
 * next one. Undefined if there is no sentence.
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
 * Returns the reason of a deprecation, from a description that starts with "Deprecated". Undefined for other descriptions: where the word
 * comes later, it is usually about something else.
 */
export function deprecationReasonOf(text: unknown): string | undefined {
  if (typeof text !== 'string' || !/^Deprecated\b/.test(text)) return undefined;
  const [, reason = ''] = /^Deprecated[\s.:,;-]*(.*)$/su.exec(text) ?? [];
  return firstSentence(reason) ?? 'Deprecated.';
}
