import { createClient } from 'graphql-ws/client';
import { exactNumberReviver } from '../../core/json.ts';
import { reportAnswer, reportSilence, reportStop } from './connection.ts';
import { failureOf, type GraphqlError, RequestFailure } from './graphql.ts';
import { token } from './session.ts';

export interface FollowedStream<Message> {
  readonly query: string;
  /** The field of the subscription. */
  readonly field: string;
  /**
   * Returns the variables of the next attempt. `first`: the first attempt. `resumed`: continue after the last message. `anew`: start from
   * the beginning, because the gateway refused to resume.
   */
  readonly variables: (how: AttemptKind) => object;
  readonly onMessage: (message: Message) => void;
  /** Called before the first message of a stream that starts from the beginning again. */
  readonly onRestart?: () => void;
  /** Called when the gateway ends the stream with an error. The next message means that the error is over. After a final refusal none comes. */
  readonly onFailure: (failure: RequestFailure) => void;
}

type AttemptKind = 'first' | 'resumed' | 'anew';

/** The first and the longest delay in a series of losses, in milliseconds. */
const [firstDelayMs, maxDelayMs] = [1_000, 15_000];

/** Milliseconds between pings, and the time that the gateway has to answer one. */
const pingMs = 15_000;

/** Error codes of the gateway after which a new stream may succeed. */
const passing = new Set(['SLOW_CONSUMER', 'UNAVAILABLE', 'SHUTTING_DOWN', 'OVERLOADED', 'GONE']);

/**
 * The end of one attempt. After `lost`, a new attempt may succeed; `isPlanned` is true if the gateway announced the end, and `failure` is its
 * reason if a user should know it. After `refused`, a new attempt would fail too. `stopped`: the signal aborted.
 */
type AttemptEnd =
  | { readonly result: 'lost'; readonly isPlanned: boolean; readonly failure?: RequestFailure }
  | { readonly result: 'refused'; readonly failure: RequestFailure }
  | { readonly result: 'stopped' };

let lastStream = 0;

/**
 * Follows a subscription until the signal aborts. A lost stream is opened again after 1 s, and later after up to 15 s. It repeats no message if
 * `variables` returns the cursor of the last one. While a stream is lost, `isAway` is true.
 */
export async function followStream<Message>(stream: FollowedStream<Message>, signal: AbortSignal): Promise<void> {
  lastStream += 1;
  const source = `stream ${lastStream}`;
  let how: AttemptKind = 'first';
  let losses = 0;
  const onMessage = (message: Message, isNew: boolean) => {
    if (isNew && how === 'anew') stream.onRestart?.();
    losses = 0;
    reportAnswer(source);
    stream.onMessage(message);
  };
  while (!signal.aborted) {
    const end = await attempt({ ...stream, variables: () => stream.variables(how) }, onMessage, signal);
    if (end.result === 'stopped') break;
    if (end.result === 'refused') {
      const isOldCursor = how === 'resumed' && end.failure.code === 'BAD_INPUT';
      how = 'anew';
      if (isOldCursor) continue;
      stream.onFailure(end.failure);
      break;
    }
    if (how === 'first' || how === 'anew') how = 'resumed';
    if (end.failure !== undefined) {
      reportAnswer(source);
      stream.onFailure(end.failure);
    }
    if (!end.isPlanned) reportSilence(source);
    losses += 1;
    await sleep(Math.min(maxDelayMs, firstDelayMs * 2 ** (losses - 1)) * (0.5 + Math.random() / 2), signal);
  }
  reportStop(source);
}

type StreamAttempt<Message> = Omit<FollowedStream<Message>, 'variables'> & { readonly variables: () => object };

/** Opens the subscription once, on a socket of its own. Resolves when it has ended. */
function attempt<Message>(
  { query, field, variables }: StreamAttempt<Message>,
  onMessage: (message: Message, isNew: boolean) => void,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const { promise, resolve } = Promise.withResolvers<AttemptEnd>();
  const sent = token.value;
  let pong: number | undefined;
  let isNew = true;
  const client = createClient({
    url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
    connectionParams: () => (sent === undefined ? {} : { authorization: `Bearer ${sent}` }),
    retryAttempts: 0,
    keepAlive: pingMs,
    connectionAckWaitTimeout: pingMs,
    jsonMessageReviver: exactNumberReviver,
    on: {
      // A network that is cut closes no socket, so the gateway must answer a ping.
      ping: (received) => {
        if (!received) pong = window.setTimeout(() => client.terminate(), pingMs);
      },
      pong: () => clearTimeout(pong),
      closed: () => clearTimeout(pong),
    },
  });
  const end = (how: AttemptEnd) => {
    clearTimeout(pong);
    resolve(how);
    void Promise.resolve(client.dispose()).catch(() => undefined);
  };
  const lost: AttemptEnd = { result: 'lost', isPlanned: false };
  const endWith = (errors: readonly GraphqlError[]) => {
    const failure = failureOf(errors[0], sent);
    if (!passing.has(failure.code)) end({ result: 'refused', failure });
    else if (failure.code === 'GONE') end({ result: 'lost', isPlanned: true });
    else end({ result: 'lost', isPlanned: true, failure });
  };
  client.subscribe<Record<string, Message>>(
    { query, variables: { ...variables() } },
    {
      next: ({ data, errors }) => {
        const message = data?.[field];
        if (message === undefined || message === null) return endWith((errors ?? []) as readonly GraphqlError[]);
        onMessage(message, isNew);
        isNew = false;
      },
      error: (reason) => (Array.isArray(reason) ? endWith(reason as readonly GraphqlError[]) : end(endOfClose(reason, sent))),
      complete: () => end(lost),
    },
  );
  if (signal.aborted) end({ result: 'stopped' });
  else signal.addEventListener('abort', () => end({ result: 'stopped' }), { once: true });
  return promise;
}

/** Close codes after which a new connection would fail in the same way. */
const fatal = new Set([4400, 4406, 4409, 4429, 4500]);

/** Converts the close of a socket. 4401: the token was refused. 4403: the socket had reached its longest lifetime. */
function endOfClose(reason: unknown, sent: string | undefined): AttemptEnd {
  const { code = 0, reason: text = '' } = (reason ?? {}) as { readonly code?: number; readonly reason?: string };
  if (code === 4401) return { result: 'refused', failure: failureOf({ message: text, extensions: { code: 'UNAUTHENTICATED' } }, sent) };
  if (fatal.has(code))
    return { result: 'refused', failure: new RequestFailure('UNKNOWN', `the gateway closed the stream: ${code} ${text}`) };
  return { result: 'lost', isPlanned: code === 4403 };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(timer);
      resolve();
    },
    { once: true },
  );
  return promise;
}
