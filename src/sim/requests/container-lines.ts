/** One line of a container, without its end. */
export interface LogEntry {
  /** Milliseconds of the epoch, and nanoseconds beyond: no two lines of one log have the same time. */
  readonly timeMs: number;
  readonly nanos: number;
  readonly bytes: Uint8Array;
}

/** Identifies the log of one run of a container. */
export interface LogKey {
  readonly uid: string;
  readonly container: string;
  /** Counted from 0: the container's `restartCount`. */
  readonly run: number;
}

/** Lines that containers were made to write. */
export interface ContainerLines {
  /** The lines that are kept, and the number of the first one. */
  read(key: LogKey): { readonly entries: readonly LogEntry[]; readonly first: number };
  /** Called with the uid of each Pod that writes. Ends with the disposable. */
  onWrite(listener: (uid: string) => void): Disposable;
}
