import type { Fault } from '../core/faults.ts';
import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import type { Log } from '../core/log.ts';
import type { ClusterName } from '../core/names.ts';

/** A cluster, or one kind of it, as the log tells of it. */
export interface PhaseOf {
  readonly cluster: ClusterName;
  /** Absent: the cluster itself. */
  readonly kind?: GroupKind;
  readonly phase: string;
  readonly faults: readonly Fault[];
  /** Objects held. */
  readonly objects?: number;
}

/** Turns phases into lines of the log: one for each change of a phase or of its faults' codes, a warning where there is a fault. */
export interface PhaseLog {
  saw(seen: PhaseOf): void;
  /** The cluster has left: nothing of it is remembered. */
  left(cluster: ClusterName): void;
}

/** Makes a phase log. It remembers one short text per cluster and kind. */
export function createPhaseLog(log: Log): PhaseLog {
  const last = new Map<ClusterName, Map<string, string>>();
  return {
    saw: ({ cluster, kind, phase, faults, objects }) => {
      const key = kind === undefined ? '' : keyOfKind(kind);
      const codes = [...new Set(faults.map(({ code }) => code))];
      const known = last.get(cluster) ?? new Map<string, string>();
      last.set(cluster, known);
      const now = [phase, ...codes].join(' ');
      if (known.get(key) === now) return;
      known.set(key, now);
      const first = faults[0];
      const about = { cluster, ...(kind === undefined ? {} : { kind: key }), phase, ...(objects === undefined ? {} : { objects }) };
      const message = kind === undefined ? 'a cluster has changed its phase' : 'a mirror has changed its phase';
      // A first list under way is what SYNCING means: nothing to warn of.
      if (first === undefined || codes.every((code) => code === 'SYNCING')) log.info(about, message);
      else log.warn({ ...about, fault: codes.length === 1 ? first.code : codes, problem: first.message }, message);
    },
    left: (cluster) => {
      if (last.delete(cluster)) log.info({ cluster }, 'a cluster has left');
    },
  };
}
