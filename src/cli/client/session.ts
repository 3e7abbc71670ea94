import type { Clock } from '../../core/clock.ts';
import type { Terminal } from '../output/terminal.ts';
import type { GatewayClient } from './gateway-client.ts';
import type { ManifestReader } from './manifest-reader.ts';
import type { OpenSubscription } from './subscription.ts';

/** Everything a command works with once it has a gateway. */
export interface Session {
  readonly gateway: GatewayClient;
  readonly openStream: OpenSubscription;
  readonly terminal: Terminal;
  readonly reader: ManifestReader;
  readonly clock: Clock;
  /** The clusters that `--context` names. Null: all clusters. */
  readonly clusters: readonly string[] | null;
  /** True if the gateway runs in this process and ends with the command. Unfinished work of the gateway, such as a rollout, then stops. */
  readonly ownsGateway: boolean;
  /** Aborts when the command must end. */
  readonly signal: AbortSignal;
}

/** Runs a command and returns its exit code. @throws {CommandFailure} if the command fails. */
export type Command = (session: Session) => Promise<number>;
