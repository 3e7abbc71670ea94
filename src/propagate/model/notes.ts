/**
 * A warning, error or information about the input. A problem of a cluster is a fault instead. Messages never contain values of a manifest.
 */
export interface Note {
  readonly severity: 'INFO' | 'WARNING' | 'ERROR';
  readonly code: NoteCode;
  /** The message for users, with the expected value and the given one. */
  readonly message: string;
  /** The path of the field in the input: `overrides[0].jsonPatch[1].path`. Absent if the note is about no single field. */
  readonly path?: string;
}

/** The codes of notes (docs/internals/propagation.md 3.8). `INVALID` means that the input itself is wrong. */
export type NoteCode =
  | 'INVALID'
  /** The Propagation was imported, and an existing one of its name has another origin. */
  | 'NAME_TAKEN'
  | 'NOTHING_CHOSEN'
  | 'OVERRIDE_FAILED'
  | 'REFUSED_EVERYWHERE'
  | 'REFUSED_SOMEWHERE'
  | 'PREFLIGHT_FAILED'
  | 'UNKNOWN_CLUSTER'
  | 'DEPENDENCY_MISSING'
  | 'UNKNOWN_CONTAINER'
  | 'UNMATCHED_OVERRIDE'
  | 'NO_RULE_MATCHED'
  | 'MIN_NOT_MET'
  | 'UNPLACED'
  | 'OVER_CAPACITY'
  | 'BOUNDS_IGNORED'
  | 'COUNT_OVERRIDDEN'
  | 'OVERRIDE_WITHOUT_EFFECT'
  | 'AUTOSCALED'
  | 'REQUESTER_MISSING'
  | 'PRUNE_HELD'
  /** A source object is in a cluster of the placement. Muster never writes a source object. */
  | 'SOURCE_IS_TARGET'
  /**
   * An object that the template refers to, or depends on, has changed since the generation was accepted. With the rights of a requester,
   * Muster does not follow such a change.
   */
  | 'SOURCE_CHANGED'
  /** A copy would overwrite an object from which the source is made. */
  | 'CIRCLE'
  /** Copies of a cluster that does not answer may run in addition to those that replace them. */
  | 'POSSIBLY_DOUBLED'
  /** Copies that a failover has released (`purge` Never) are still in the cluster that they left. */
  | 'LEFT_BEHIND'
  /** StatefulSets or Jobs stay planned in a cluster that does not answer, because it is unknown whether they run there. */
  | 'FATE_UNKNOWN'
  /** The old status has no value for a label of `failover.preserve`. */
  | 'NOT_PRESERVED'
  /** Copies cannot move, because the rights of a requester serve one generation only. */
  | 'NOT_MOVED';
