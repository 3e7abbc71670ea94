import type { Fault } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ClusterPhase, SyncState } from '../mirrors.ts';

/** One log line about a mirror. */
export interface MirrorLine {
  /** The result of `keyOfKind`. */
  readonly kind: string;
  readonly sync: Pick<SyncState, 'phase' | 'fault'>;
  readonly objects: number;
  /** Whether the cluster can be reached. If not, a fault is logged as `debug`, because the line of the cluster reports the outage. */
  readonly cluster: 'reachable' | 'unreachable';
}

/**
 * Logs changes of one cluster and of its mirrors. `info`: the mirror is in sync. `warn`: it has a fault. `debug`: its first list is being
 * received.
 *
 * Faults that an outage of the whole cluster explains are `debug` too. So is the line with which such a mirror is in sync again. The
 * cluster's own line reports the outage once, instead of one line per kind.
 */
export class MirrorLog {
  readonly #name: ClusterName;
  readonly #log: Log;
  /** The kinds whose last fault came from an outage of the whole cluster. */
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

  /** Logs the phase of the cluster: as information, or as a warning if it has a fault. */
  writePhase(phase: ClusterPhase, fault: Fault | undefined): void {
    if (fault === undefined) this.#log.info({ cluster: this.#name, phase }, 'cluster');
    else this.#log.warn({ cluster: this.#name, phase, fault: fault.code }, `cluster: ${fault.message}`);
  }
}
