import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { parseJsonText } from '../../operations/operation-request.ts';
import { RequestRefusal } from '../../operations/refusal.ts';

/** A message of a client, checked before graphql-ws reads it. */
export interface ClientMessage {
  /** The payload, with exact integers beyond 2⁵³−1. Undefined: the message has none. */
  readonly payload: JsonObject | undefined;
  /** Set if the message is valid, but its operation is not. The operation then ends with this error. */
  readonly refusal?: RequestRefusal;
}

/** Types of messages that clients may send in graphql-transport-ws. */
const types: ReadonlySet<Json | undefined> = new Set(['connection_init', 'ping', 'pong', 'subscribe', 'complete']);

/** Maximum length of an id. Every message of a stream has the id, so a long one would multiply the bytes that are sent. */
const maxIdLength = 128;

/**
 * Parses a message of a client by the rules of HTTP bodies (`parseJsonText`): at most 200 levels, no lone surrogates and no NUL.
 *
 * Returns a text if the gateway has to close the socket: the text is the reason. A `subscribe` that breaks only the rules of bodies does
 * not close the socket. It gives a message with `refusal`.
 */
export function parseClientMessage(text: string): ClientMessage | string {
  const parsed = parsedBy(() => parseJsonText(text));
  const lenient = parsed instanceof RequestRefusal ? parsedBy(() => JSON.parse(text) as Json) : parsed;
  if (!isMessage(lenient)) return 'expected a JSON object with a type that clients send in graphql-transport-ws';
  if (typeof lenient.id === 'string' && lenient.id.length > maxIdLength) return `expected an id of at most ${maxIdLength} characters`;
  const payload = isJsonObject(lenient.payload) ? lenient.payload : undefined;
  if (!(parsed instanceof RequestRefusal)) return { payload };
  return lenient.type === 'subscribe' ? { payload, refusal: parsed } : parsed.message;
}

function isMessage(value: Json | RequestRefusal): value is JsonObject {
  return !(value instanceof RequestRefusal) && isJsonObject(value) && types.has(value.type);
}

function parsedBy(parse: () => Json): Json | RequestRefusal {
  try {
    return parse();
  } catch (error) {
    return error instanceof RequestRefusal
      ? error
      : new RequestRefusal({ status: 400, code: 'BAD_INPUT', message: 'the message is not JSON' });
  }
}
