import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { SyncState } from '../mirrors.ts';

/** What one line of the log tells of a mirror. */
export interface MirrorLine {
  /** `keyOfKind`. */
  readonly kind: string;
  readonly sync: Pick<SyncState, 'phase' | 'fault'>;
  readonly objects: number;
  /** What the cluster's own line says already. */
  readonly cluster: 'reachable' | 'unreachable';
}

/**
 * Writes a line whenever a mirror of one cluster changes: `info` once it is whole, `warn` for what is wrong, `debug` while its first list is on
 * its way. What an outage of the whole cluster explains, from its beginning until the mirror is whole again, is `debug` too: the cluster has a
 * line of its own for it, and would have one per kind beside it.
 */
export class MirrorLog {
  readonly #name: ClusterName;
  readonly #log: Log;
  /** Kinds whose last line an outage explains. */
  readonly #explained = new Set<string>();

  constructor(name: ClusterName, log: Log) {
    this.#name = name;
    this.#log = log;
  }

  write({ kind, sync: { phase, fault }, objects, cluster }: MirrorLine): void {
    const fields = { cluster: this.#name, kind, phase, objects };
    const wasExplained = this.#explained.delete(kind);
    if (fault === undefined) {
      this.#log[wasExplained ? 'debug' : 'info'](fields, 'mirror');
      return;
    }
    const isExplained = cluster === 'unreachable' || (wasExplained && (phase === 'SYNCING' || fault.code === 'UNREACHABLE'));
    if (isExplained) this.#explained.add(kind);
    const level = isExplained || phase === 'SYNCING' ? 'debug' : 'warn';
    this.#log[level]({ ...fields, fault: fault.code }, `mirror: ${fault.message}`);
  }
}
