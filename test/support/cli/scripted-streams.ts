import type { GatewayAnswer, GatewayRequest } from '../../../src/cli/client/gateway-client.ts';
import type { OpenSubscription } from '../../../src/cli/client/subscription.ts';

/** Streams whose messages the test sends. */
export interface ScriptedStreams {
  /** The value for `ProgramOptions.streams`. */
  readonly streams: () => OpenSubscription;
  /** The requests that opened streams. */
  readonly asked: readonly GatewayRequest[];
  /** Sends a message of this root field over the open stream. */
  send(field: string, message: object): void;
  /** Ends the open stream with this error. */
  fail(error: Error): void;
}

/** Creates the streams. Messages that are sent while no stream is open wait for the next one. */
export function createScriptedStreams(): ScriptedStreams {
  const asked: GatewayRequest[] = [];
  const waiting: (GatewayAnswer | Error)[] = [];
  let wake = Promise.withResolvers<void>();
  const put = (step: GatewayAnswer | Error) => {
    waiting.push(step);
    wake.resolve();
    wake = Promise.withResolvers();
  };
  async function* open(what: GatewayRequest, signal: AbortSignal): AsyncIterable<GatewayAnswer> {
    asked.push(what);
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!signal.aborted) {
      const step = waiting.shift();
      if (step instanceof Error) throw step;
      if (step !== undefined) yield step;
      else await Promise.race([wake.promise, aborted]);
    }
  }
  return {
    streams: () => open,
    asked,
    send: (field, message) => put({ data: JSON.parse(JSON.stringify({ [field]: message })) }),
    fail: put,
  };
}
