import type { GatewayAnswer, GatewayRequest } from '../../../src/cli/client/gateway-client.ts';
import type { OpenSubscription } from '../../../src/cli/client/open-stream.ts';

/** Streams of which a test says each message. */
export interface ScriptedStreams {
  /** For `ProgramOptions.streams`. */
  readonly streams: () => OpenSubscription;
  /** What was asked, one per opening. */
  readonly asked: readonly GatewayRequest[];
  /** Sends a message of that root field over the open stream. */
  send(field: string, message: object): void;
  /** Ends the open stream with this. */
  fail(error: Error): void;
}

/** Makes them. What is sent while no stream is open waits for the next one. */
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
