import { printable } from '../output/table.ts';
import type { Session } from './session.ts';

/** The sync state of one kind in one cluster, as commands select it. */
export interface ClusterSync {
  readonly cluster: { readonly name: string };
  readonly phase: string;
  readonly fault: { readonly code: string } | null;
}

/** The GraphQL selection that gives a `ClusterSync`. */
export const syncFields = 'phase cluster { name } fault { code }';

/**
 * Collects the clusters of a request, and which of them have answered. "Not found" means that no cluster has the object only if all
 * clusters have answered.
 */
export class ClusterAnswers {
  /** The clusters of the request, with their fault codes. The value is undefined for a cluster that has answered. */
  readonly #codes = new Map<string, string | undefined>();

  /** Adds the sync states of some kinds. A state is skipped if the cluster does not serve the kind. */
  add(syncs: readonly ClusterSync[]): void {
    for (const { cluster, phase, fault } of syncs) {
      if (fault?.code === 'NOT_SERVED') continue;
      const code = phase === 'SYNCED' ? undefined : (fault?.code ?? phase);
      this.#codes.set(cluster.name, this.#codes.get(cluster.name) ?? code);
    }
  }

  /** True if every cluster of the request has answered. */
  get isComplete(): boolean {
    return [...this.#codes.values()].every((code) => code === undefined);
  }

  /**
   * Prints a line on standard error: the missing object or resource, which clusters have answered, and which have not. The line does not claim that
   * the object is absent.
   *
   * @param what The name of the missing object or resource, such as `pod web`.
   */
  reportUnknown({ terminal }: Pick<Session, 'terminal'>, what: string): void {
    const clusters = [...this.#codes].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const answered = clusters.flatMap(([name, code]) => (code === undefined ? [name] : []));
    const silent = clusters.flatMap(([name, code]) => (code === undefined ? [] : [`${name} (${code})`]));
    const names = answered.length === 0 ? '' : `: ${answered.join(', ')}`;
    const count = `${answered.length} of ${clusters.length}`;
    const line = `${what}: unknown, as clusters did not answer. Answered (${count})${names}; did not answer: ${silent.join(', ')}`;
    terminal.err(`muster: ${printable(line)}\n`);
  }
}
