/**
 * Receives the number of reads since the last call. An object counts as one read. For an aggregate, each further value of a list in the
 * object counts as one more. Throws to end the operation that reads.
 */
export type CountReads = (reads: number) => void;

/** Counts reads, and reports them in groups of 1,000, so that counting costs almost nothing. */
export interface ReadCounter {
  /** Counts reads. Returns true after about 200 of them, when it is time to yield. */
  add(reads: number): boolean;
  /** Counts compared values. Eight of them count as one read. Returns true when it is time to yield. */
  addCompared(values: number): boolean;
  /** Reports the reads that were not reported yet. */
  end(): void;
}

/** Creates a counter for one walk over objects, which reports its reads to `report`. Default: reads are not reported. */
export function createReadCounter(report: CountReads = ignored): ReadCounter {
  let unreported = 0;
  let sinceStep = 0;
  let values = 0;
  const flush = (): void => {
    const reads = unreported;
    unreported = 0;
    report(reads);
  };
  const add = (reads: number): boolean => {
    unreported += reads;
    sinceStep += reads;
    if (unreported >= reportEvery) flush();
    if (sinceStep < yieldEvery) return false;
    sinceStep = 0;
    return true;
  };
  return {
    add,
    addCompared(more) {
      values += more;
      if (values < valuesPerRead) return false;
      const reads = Math.floor(values / valuesPerRead);
      values %= valuesPerRead;
      return add(reads);
    },
    end() {
      if (unreported > 0) flush();
    },
  };
}

/**
 * Maximum number of reads for one answer, or for the first state of a stream.
 *
 * An object counts again for each path that sums, extremes and groups read, and for each page of relations that it may be on. Groups by two
 * paths with a sum over a million objects are three million reads. A million reads take one to three seconds.
 */
export const maxReads = 4_000_000;

const reportEvery = 1_000;

/** Number of reads in one step. They take 0.2 to 0.6 ms. */
const yieldEvery = 200;

/**
 * Number of compared values that cost as much as one read. Comparing a value takes 0.1 to 0.2 µs. Finding an object and its values takes 1
 * to 3 µs.
 */
export const valuesPerRead = 8;

function ignored(): void {}
