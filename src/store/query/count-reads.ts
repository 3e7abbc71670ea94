/** Told how many objects were looked at just now, of each as many as values that were found in it: ends what looks by throwing. */
export type CountReads = (looks: number) => void;

/** Looks that are told some thousand at a time, so that to count them costs next to nothing. */
export interface ReadCounter {
  /** Counts looks. True after some hundred more: it is time to yield. */
  add(looks: number): boolean;
  /** Counts values that were compared, of which eight cost as much as a look. True as above. */
  addCompared(values: number): boolean;
  /** Tells the rest. */
  end(): void;
}

/** Those of one walk over objects. Without anybody to tell they are none. */
export function createReadCounter(look: CountReads = ignored): ReadCounter {
  let untold = 0;
  let sinceStep = 0;
  let values = 0;
  const tell = (): void => {
    const looks = untold;
    untold = 0;
    look(looks);
  };
  const add = (looks: number): boolean => {
    untold += looks;
    sinceStep += looks;
    if (untold >= tellAt) tell();
    if (sinceStep < stepAt) return false;
    sinceStep = 0;
    return true;
  };
  return {
    add,
    addCompared(more) {
      values += more;
      if (values < valuesPerRead) return false;
      const looks = Math.floor(values / valuesPerRead);
      values %= valuesPerRead;
      return add(looks);
    },
    end() {
      if (untold > 0) tell();
    },
  };
}

/**
 * Most looks of one answer, or of the first state of a stream: each object again for each path that is read of it by sums, extremes and groups, and for each
 * page of relations that it may be on. Of a million objects groups by two paths with a sum are three million looks. A million take one to three seconds.
 */
export const maxReads = 4_000_000;

const tellAt = 1_000;

/** Looks in one step: 0.2 to 0.6 ms. */
const stepAt = 200;

/** Comparing a value takes 0.1 to 0.2 µs. Finding an object and its values takes 1 to 3 µs. */
export const valuesPerRead = 8;

function ignored(): void {}
