/** Figures that a measuring program printed, by name. The name of a time ends with its unit. */
export type Figures = Readonly<Record<string, number>>;

/** A bound on a ratio, or on our own figure where the row has no floor. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** One line of the table: our figure, the floor of the same run, and their ratio. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  /** Describes the floor for people. */
  readonly against: string;
  /** Computes our figure from the figures of the programs, by their names in the case. */
  readonly ours: (figures: Readonly<Record<string, Figures>>) => number;
  /** Computes the floor in the same way. Default: no floor, and the target bounds `ours` itself. */
  readonly floor?: (figures: Readonly<Record<string, Figures>>) => number;
  /** The bound of the row. Null if it has none yet. */
  readonly target: Target | null;
}

interface RunOptions {
  readonly quick: boolean;
  /** Aborts every program and server of the run. */
  readonly signal: AbortSignal;
}

/** A group of programs that run one after the other in each sample, and the rows computed from their figures. */
export interface BenchCase {
  readonly name: string;
  /** True if the case needs real API servers. It then runs with `--real` only. */
  readonly real?: boolean;
  /** Number of samples of a full run. `--quick` takes one. */
  readonly samples: number;
  /** Starts the servers that the programs of all samples need. They end after the last sample. */
  prepare(options: RunOptions): Promise<PreparedCase>;
  readonly rows: readonly Row[];
}

interface PreparedCase extends AsyncDisposable {
  /** Programs by name, in the order in which they run. Each call takes one sample. */
  readonly programs: Readonly<Record<string, () => Promise<Figures>>>;
}

/** One row of bench.json. */
export interface BenchResult {
  readonly name: string;
  readonly against: string;
  readonly floor: number | null;
  readonly ours: number;
  readonly unit: string;
  readonly ratio: number | null;
  readonly target: string | null;
  readonly met: boolean;
  readonly samples: readonly { readonly floor: number | null; readonly ours: number }[];
}
