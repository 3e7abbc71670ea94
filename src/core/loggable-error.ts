import { InvariantError, MusterError } from './errors.ts';

/**
 * Returns an error that may be logged: with its class, its code and its stack frames. A message that may quote a value is left out. Messages of the
 * runtime and of libraries quote the values that they fail at, and such a value may be that of a Secret.
 */
export function loggableError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`expected an error to be thrown, got: ${error === null ? 'null' : typeof error}`);
  if (hasOwnMessage(error) && error.cause === undefined) return error;
  const cause = error.cause === undefined ? undefined : loggableError(error.cause);
  const safe = new Error(safeMessage(error), cause === undefined ? undefined : { cause });
  safe.name = error.name;
  safe.stack = [`${error.name}: ${safe.message}`, ...framesOf(error)].join('\n');
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^E[A-Z0-9_]+$/.test(code) ? Object.assign(safe, { code }) : safe;
}

/** True for errors whose message this project wrote. Neither the runtime nor graphql-js throws a plain `Error`. */
function hasOwnMessage(error: Error): boolean {
  return error instanceof MusterError || error instanceof InvariantError || error.constructor === Error;
}

/** A message of V8 that names code, not values. */
const aboutCode = /^Cannot read properties of (?:undefined|null) \(reading '[\w$]{1,60}'\)$/;

/**
 * Matches messages that quote no value: lower-case words only, none of them `is`, `has`, `are` or `must`. Messages of V8 and Node do not match,
 * because they begin with a capital letter or with a value. In `secret is not a function`, `secret` may be a value.
 */
const plainWords = /^(?!.* (?:is|has|are|must) )[a-z][a-z ,-]*$/;

function safeMessage(error: Error): string {
  const { message } = error;
  if (hasOwnMessage(error) || aboutCode.test(message) || plainWords.test(message)) return message;
  // `Cannot return null for non-nullable field Pod.kind.` quotes no value. In other messages, values follow a colon and are cut off.
  if (error.name === 'GraphQLError') return message.replace(/: [\s\S]*$/, '');
  return 'the message is left out, as it may quote a value';
}

function framesOf({ stack = '', message }: Error): readonly string[] {
  const after = stack.indexOf(message) < 0 ? stack : stack.slice(stack.indexOf(message) + message.length);
  return after.split('\n').filter((line) => /^ {4}at \S/.test(line));
}

/** Replaces the text, list or object at the end of a message of graphql-js by its type. Numbers, Booleans and `null` stay. */
export function withoutQuotedValues(message: string): string {
  return message.replace(
    /((?:cannot represent [^:]*|[Ff]ound): )([\s\S]*)$/,
    (_, words: string, value: string) => words + typeNameOf(value),
  );
}

function typeNameOf(text: string): string {
  const value = text.replace(/\.$/, '');
  const exact = /^\{ rawJSON: "(-?\d+)" \}$/.exec(value);
  if (exact?.[1] !== undefined) return exact[1];
  if (/^(?:-?\d[\d.e+-]{0,40}|true|false|null|undefined|NaN|-?Infinity)$/i.test(value)) return text;
  if (/^["']/.test(value)) return 'a text.';
  if (value.startsWith('[')) return 'a list.';
  return value.startsWith('{') ? 'an object.' : 'another value.';
}
