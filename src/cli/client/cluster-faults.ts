import { printable } from '../output/table.ts';
import type { GatewayAnswer } from './gateway-client.ts';
import type { Session } from './session.ts';

/** A fault of one cluster, as commands select it. */
export interface ClusterFault {
  readonly code: string;
  readonly message: string;
  readonly cluster: { readonly name: string };
  readonly kind?: { readonly plural: string } | null;
  /** The Status message of the API server, if there is one. */
  readonly status?: { readonly message: string } | null;
}

/** The GraphQL selection that gives a `ClusterFault`. */
export const faultFields = 'code message cluster { name } kind { plural } status { message }';

/** Returns the faults in the `extensions` of an answer. They explain nulls in its data. */
export function faultsInExtensions({ extensions }: GatewayAnswer): readonly ClusterFault[] {
  const faults = (extensions?.faults ?? []) as readonly {
    readonly code: string;
    readonly message: string;
    readonly cluster: string;
    readonly kind: string | null;
  }[];
  return faults.map(({ code, message, cluster, kind }) => ({
    code,
    message,
    cluster: { name: cluster },
    kind: kind === null ? null : { plural: kind },
  }));
}

/** Faults that describe the cluster and do not mean that the request failed. */
const harmless = new Set(['INSECURE', 'DUPLICATE']);

/**
 * Maximum number of printed lines that the report remembers. When it is reached, the report forgets all of them, so a later fault may be printed
 * twice.
 */
const maxRemembered = 1_000;

/** Prints faults. Each fault is printed once, however many answers contain it. */
export class ClusterFaultReport {
  readonly #session: Pick<Session, 'terminal' | 'clusters'>;
  readonly #printed = new Set<string>();
  #failed = false;

  constructor(session: Pick<Session, 'terminal' | 'clusters'>) {
    this.#session = session;
  }

  /**
   * Prints each fault that was not printed before, as a line on standard error. Records for `exitCode` whether any of the faults is a
   * failure.
   */
  print(faults: readonly ClusterFault[]): void {
    for (const fault of faults) {
      this.#failed ||= !harmless.has(fault.code);
      const line = lineOfFault(fault);
      if (this.#printed.has(line)) continue;
      if (this.#printed.size >= maxRemembered) this.#printed.clear();
      this.#printed.add(line);
      this.#session.terminal.err(line);
    }
  }

  /**
   * Returns 1 if `--context` names clusters and a printed fault was a failure, else 0. Without `--context`, faults do not change the exit
   * code.
   */
  exitCode(): 0 | 1 {
    return this.#failed && this.#session.clusters !== null ? 1 : 0;
  }
}

/** Returns a whole line such as `warning: south: UNREACHABLE the connection was refused`, with the kind if the fault has one. */
export function lineOfFault(fault: ClusterFault): string {
  const { cluster, kind } = fault;
  const subject = kind === undefined || kind === null ? cluster.name : `${cluster.name}: ${kind.plural}`;
  return `warning: ${printable(`${subject}: ${reasonOfFault(fault)}`)}\n`;
}

/** Returns `UNREACHABLE the connection was refused`, and the message of the API server unless the fault message contains it. */
export function reasonOfFault({ code, message, status }: Pick<ClusterFault, 'code' | 'message' | 'status'>): string {
  const statusMessage = status?.message ?? '';
  return `${code} ${statusMessage === '' || message.includes(statusMessage) ? message : `${message}: ${statusMessage}`}`;
}
