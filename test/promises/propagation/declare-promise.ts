import type { WritingFleet } from '../../support/propagate/writing-fleet.ts';

/** Declares one promise. It gets a fleet of its own, and its history is judged at the end. */
export type DeclarePromise = (name: string, run: (fleet: WritingFleet) => Promise<void>) => void;
