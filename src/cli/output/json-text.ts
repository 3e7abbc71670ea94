import { type Json, parseJsonExactly } from '../../core/json.ts';

/**
 * The value as JSON without characters that a terminal would obey. JSON leaves two sets of them as they are: U+007F to U+009F, and those that change
 * the direction of text.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(
    /[\u007f-\u009f\p{Bidi_Control}]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What was written on the command line: its value if it is JSON, its numbers exact; else the text itself. */
export function parseJsonOrText(text: string): Json {
  try {
    return parseJsonExactly(text);
  } catch {
    return text;
  }
}
