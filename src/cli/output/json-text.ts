import { jsonEscapeOf } from '../../core/json/json-escape.ts';

/**
 * Returns the value as JSON without characters that control a terminal. JSON itself does not escape U+007F to U+009F or characters that
 * change the direction of text.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(/[\u007f-\u009f\p{Bidi_Control}]/gu, jsonEscapeOf);
}
