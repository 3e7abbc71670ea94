import { config } from 'zod';
import type { Json } from '../../core/json.ts';
import { parseIntents } from '../../propagate/model/parse-intents.ts';

/** A Propagation that was read from a text, or why there is none. */
export type IntentRead =
  | { readonly result: 'read'; readonly namespace: string; readonly name: string; readonly input: Json }
  | { readonly result: 'refused'; readonly message: string };

// Without this, zod tries whether it may compile code, and the content security policy forbids that.
config({ jitless: true });

/** Reads the text of one Propagation, as `muster plan -f` does. */
export function readIntent(text: string): IntentRead {
  const read = parseIntents(text);
  if (read.result === 'refused') {
    const lines = read.problems.map(({ document, path, message }) => [document, path, message].filter((part) => part !== '').join(': '));
    return { result: 'refused', message: lines.join('\n') };
  }
  const [intent, another] = read.intents;
  if (intent === undefined || another !== undefined)
    return { result: 'refused', message: `expected one Propagation, got ${read.intents.length}` };
  return { result: 'read', ...intent };
}
