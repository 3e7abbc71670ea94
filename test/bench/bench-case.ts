/** What a measuring program printed: figures by name. Times in the unit the name says. */
export type Figures = Readonly<Record<string, number>>;

/** A bound on a ratio, or on our own figure where the row has no floor. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** One line of the table: ours, the floor of the same run, and their ratio. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  /** What the floor is, for people. */
  readonly against: string;
  /** What is measured, from the figures of the programs by their names in the case. Undefined floor: the target bounds `ours` itself. */
  readonly ours: (figures: Readonly<Record<string, Figures>>) => number;
  readonly floor?: (figures: Readonly<Record<string, Figures>>) => number;
  /** Null: a figure without a bound; a later change sets it. */
  readonly target: Target | null;
}

interface RunOptions {
  readonly quick: boolean;
  /** Aborts every program and server of the run. */
  readonly signal: AbortSignal;
}

/** A group of programs that run in turn, sample by sample, and the rows made of their figures. */
export interface BenchCase {
  readonly name: string;
  /** Needs real API servers: runs with `--real` only. */
  readonly real?: boolean;
  /** Samples of a whole run; `--quick` takes one. */
  readonly samples: number;
  /** Starts what the programs of all samples need; ended after the last. */
  prepare(options: RunOptions): Promise<PreparedCase>;
  readonly rows: readonly Row[];
}

interface PreparedCase extends AsyncDisposable {
  /** By name, in the order they take turns. Each call is one sample. */
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
