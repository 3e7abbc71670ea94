import { type Json, parseJsonExactly } from '../core/json.ts';

/** What was written on the command line: its value if it is JSON, its numbers exact; else the text itself. */
export function jsonOrText(text: string): Json {
  try {
    return parseJsonExactly(text);
  } catch {
    return text;
  }
}
