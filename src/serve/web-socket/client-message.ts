import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { parseJsonText } from '../../operations/operation-request.ts';
import { RequestRefusal } from '../../operations/refusal.ts';

/** A message of a client, as far as it can be told before the protocol looks at it. */
export interface ClientMessage {
  /** Integers beyond 2⁵³−1 are exact in it. */
  readonly payload: JsonObject | undefined;
  /** Why its operation cannot be served, though the message is one. */
  readonly refusal?: RequestRefusal;
}

/** What clients may say in graphql-transport-ws. */
const types: ReadonlySet<Json | undefined> = new Set(['connection_init', 'ping', 'pong', 'subscribe', 'complete']);

/** An id stands in every message of its stream: longer ones would multiply what is sent. */
const maxIdLength = 128;

/**
 * Reads a message by the rules of request bodies. What breaks them inside an operation is that operation's error, as over HTTP; all else that is
 * no message of the protocol gives the reason to close the socket with.
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
