import { type Json, parseJsonExactly } from '../../core/json.ts';

/**
 * Returns the value as JSON without characters that control a terminal. JSON itself does not escape U+007F to U+009F or characters that
 * change the direction of text.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(
    /[\u007f-\u009f\p{Bidi_Control}]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Parses an argument of the command line as JSON with exact numbers. Text that is not JSON stays text. */
export function parseJsonOrText(text: string): Json {
  try {
    return parseJsonExactly(text);
  } catch {
    return text;
  }
}
