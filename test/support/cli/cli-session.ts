import type { GatewayRequest } from '../../../src/cli/client/gateway-client.ts';
import type { Session } from '../../../src/cli/client/session.ts';
import type { OpenSubscription } from '../../../src/cli/client/subscription.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { createManualClock, type ManualClock } from '../manual-clock.ts';
import { createFakeTerminal, type FakeTerminal, type FakeTerminalOptions } from './fake-terminal.ts';
import { manifestReader } from './run-cli.ts';

export interface CliSessionOptions extends FakeTerminalOptions {
  /** Returns the data that the gateway answers with. */
  readonly answer?: (asked: GatewayRequest) => object;
  readonly open?: OpenSubscription;
  readonly clusters?: readonly string[];
  readonly isOwn?: true;
}

/** A session for commands. The test controls its gateway, terminal and clock. */
export interface CliSession extends Session {
  readonly terminal: FakeTerminal;
  readonly clock: ManualClock;
  /** All requests that the gateway received. */
  readonly asked: readonly GatewayRequest[];
  /** Ends the session, as an interrupt does. */
  stop(): void;
}

/** Creates a session. Its gateway answers only as the options say. */
export function createCliSession(options: CliSessionOptions = {}): CliSession {
  const { answer = refuse, open = refuse, clusters = null, isOwn = false } = options;
  const life = new AbortController();
  const asked: GatewayRequest[] = [];
  const ask = async (what: GatewayRequest) => {
    asked.push(what);
    // Copied through JSON, as over a connection.
    return { data: JSON.parse(JSON.stringify(answer(what))) as JsonObject };
  };
  return {
    gateway: {
      address: { url: 'http://gateway/graphql' },
      send: ask,
      query: async <Data>(query: string, variables: JsonObject) => (await ask({ query, variables })).data as Data,
    },
    openStream: open,
    terminal: createFakeTerminal(options),
    reader: manifestReader,
    clock: createManualClock(),
    clusters,
    ownsGateway: isOwn,
    signal: life.signal,
    asked,
    stop: () => life.abort(),
  };
}

function refuse(): never {
  throw new Error('expected a command that asks for nothing');
}
