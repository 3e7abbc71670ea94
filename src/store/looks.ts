/** Told how many objects were looked at just now, of each as many as values that were found in it: ends what looks by throwing. */
export type Look = (looks: number) => void;

/** Looks that are told some thousand at a time, so that to count them costs next to nothing. */
export interface CountedLooks {
  add(looks: number): void;
  /** Tells the rest. */
  end(): void;
}

/** Those of one walk over objects. Without anybody to tell they are none. */
export function countLooks(look: Look = ignored): CountedLooks {
  let untold = 0;
  const tell = (): void => {
    const looks = untold;
    untold = 0;
    look(looks);
  };
  return {
    add(looks) {
      untold += looks;
      if (untold >= tellAt) tell();
    },
    end() {
      if (untold > 0) tell();
    },
  };
}

const tellAt = 1_000;

function ignored(): void {}
