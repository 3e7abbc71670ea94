import type { Clock } from '../../core/clock.ts';
import type { Terminal } from '../output/terminal.ts';
import type { GatewayClient } from './gateway-client.ts';
import type { ManifestReader } from './manifest-reader.ts';
import type { OpenSubscription } from './open-stream.ts';

/** What a command has to work with, once there is a gateway. */
export interface Session {
  readonly gateway: GatewayClient;
  readonly openStream: OpenSubscription;
  readonly terminal: Terminal;
  readonly reader: ManifestReader;
  readonly clock: Clock;
  /** The clusters that were named by `--context`; null for all. */
  readonly clusters: readonly string[] | null;
  /** The gateway is of this command alone, and ends with it: what it has begun then goes no further. */
  readonly ownsGateway: boolean;
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
}

/** A command: its exit code. What it cannot do it throws as a `CommandFailure`. */
export type Command = (session: Session) => Promise<number>;
