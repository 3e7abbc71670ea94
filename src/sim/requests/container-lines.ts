/** One log line of a container, without its line end. */
export interface LogEntry {
  /** Unix milliseconds; `nanos` adds nanoseconds. No two lines of a log have the same time. */
  readonly timeMs: number;
  readonly nanos: number;
  readonly bytes: Uint8Array;
}

/** Identifies the log of one run of a container. */
export interface LogKey {
  readonly uid: string;
  readonly container: string;
  /** Number of the run, from 0: the container's `restartCount`. */
  readonly run: number;
}

/** Log lines that tests wrote for containers. */
export interface ContainerLines {
  /** Returns the lines that are still stored. `first` is the position of the first of them in the whole log, from 0. */
  read(key: LogKey): { readonly entries: readonly LogEntry[]; readonly first: number };
  /** Calls the listener with the uid of each Pod that writes. Ends with the disposable. */
  onWrite(listener: (uid: string) => void): Disposable;
}
