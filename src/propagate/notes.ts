/** Something about the input; a fault is about a cluster. Messages never hold the values of a manifest. */
export interface Note {
  readonly severity: 'INFO' | 'WARNING' | 'ERROR';
  readonly code: NoteCode;
  /** What was expected and what came. */
  readonly message: string;
  /** Of the field in the input: `overrides[0].jsonPatch[1].path`. */
  readonly path?: string;
}

/** docs/internals/propagation.md 3.8. `INVALID` is of the input itself. */
export type NoteCode =
  | 'INVALID'
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
  /** A source stands in a cluster of the placement, where it is never written. */
  | 'SOURCE_IS_TARGET'
  /** A copy would be written to an object that the source is made from. */
  | 'CIRCLE';
