import type { WritingFleet } from '../../support/propagate/writing-fleet.ts';

/** Declares the test of one promise. It gets its own fleet, whose writes are checked at the end. */
export type DeclarePromise = (name: string, run: (fleet: WritingFleet) => Promise<void>) => void;
