import { printable } from '../output/table.ts';
import type { GatewayAnswer } from './gateway-client.ts';
import type { Session } from './session.ts';

/** What one cluster could not do, as commands ask for it. */
export interface ClusterFault {
  readonly code: string;
  readonly message: string;
  readonly cluster: { readonly name: string };
  readonly kind?: { readonly plural: string } | null;
  /** What the API server itself said, if it did. */
  readonly status?: { readonly message: string } | null;
}

/** The selection of a `ClusterFault`. */
export const faultFields = 'code message cluster { name } kind { plural } status { message }';

/** The faults behind the nulls of an answer, which stand beside its data. */
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

/** True of a cluster, not of what was asked of it. */
const harmless = new Set(['INSECURE', 'DUPLICATE']);

/** Past so many faults one may be told again. */
const maxRemembered = 1_000;

/** Gathers faults: each is told once, however many answers it stands in. */
export class ClusterFaultReport {
  readonly #session: Pick<Session, 'terminal' | 'clusters'>;
  readonly #told = new Set<string>();
  #failed = false;

  constructor(session: Pick<Session, 'terminal' | 'clusters'>) {
    this.#session = session;
  }

  /** Tells those that were not told, a line each on standard error. */
  print(faults: readonly ClusterFault[]): void {
    for (const fault of faults) {
      this.#failed ||= !harmless.has(fault.code);
      const line = lineOfFault(fault);
      if (this.#told.has(line)) continue;
      if (this.#told.size >= maxRemembered) this.#told.clear();
      this.#told.add(line);
      this.#session.terminal.err(line);
    }
  }

  /** 1 if a cluster that was named could not do all; what others could not is told and no more. */
  exitCode(): 0 | 1 {
    return this.#failed && this.#session.clusters !== null ? 1 : 0;
  }
}

/** `warning: south: UNREACHABLE the connection was refused`, with the kind where it is about one, and what the API server said. A whole line. */
export function lineOfFault(fault: ClusterFault): string {
  const { cluster, kind } = fault;
  const subject = kind === undefined || kind === null ? cluster.name : `${cluster.name}: ${kind.plural}`;
  return `warning: ${printable(`${subject}: ${reasonOfFault(fault)}`)}\n`;
}

/** `UNREACHABLE the connection was refused`, and what the API server said. */
export function reasonOfFault({ code, message, status }: Pick<ClusterFault, 'code' | 'message' | 'status'>): string {
  const said = status?.message ?? '';
  return `${code} ${said === '' || message.includes(said) ? message : `${message}: ${said}`}`;
}
