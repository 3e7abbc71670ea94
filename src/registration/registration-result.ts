import type { Clock } from '../core/clock.ts';
import { RegistrationProblem, type RegistrationStep, RegistrationSteps, type UndoFilter } from './registration-steps.ts';

/** The result of `muster join` and `muster leave`. */
export type RegistrationResult =
  /** `notes` are hints for the user, one line each. */
  | { readonly result: 'done'; readonly steps: readonly RegistrationStep[]; readonly notes: readonly string[] }
  /** `steps` are the changes that were not undone. */
  | { readonly result: 'failed'; readonly steps: readonly RegistrationStep[]; readonly message: string };

/** Maximum milliseconds for all steps of a command. */
const maxWorkMs = 120_000;
/** Maximum milliseconds for undoing the steps after a failure. */
const maxUndoMs = 20_000;

/** The options of `runRegistration`. */
export interface RegistrationRunOptions {
  readonly dryRun: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Returns true for created objects that an undo must keep. Default: the undo deletes all of them. */
  readonly undoFilter?: UndoFilter | undefined;
}

/**
 * Runs the steps of a command. If a step fails, deletes what was created since the start, or since the last `keepCreated`.
 *
 * @param work Returns the notes. Its signal aborts after two minutes.
 */
export async function runRegistration(
  { dryRun, clock, signal, undoFilter }: RegistrationRunOptions,
  work: (steps: RegistrationSteps, signal: AbortSignal) => Promise<readonly string[]>,
): Promise<RegistrationResult> {
  return within(maxWorkMs, { clock, signal }, async (workSignal) => {
    const steps = new RegistrationSteps(dryRun ? 'dry' : 'real', workSignal);
    try {
      const notes = await work(steps, workSignal);
      return { result: 'done', steps: steps.done(), notes };
    } catch (error) {
      if (!(error instanceof RegistrationProblem)) throw error;
      // An interrupted command also fails with a RegistrationProblem, so its steps are undone.
      const problems = await within(maxUndoMs, { clock }, (undoSignal) => steps.undo(undoSignal, undoFilter));
      const notUndone = problems.length === 0 ? '' : ` (not undone: ${problems.join('; ')})`;
      return { result: 'failed', steps: steps.done(), message: `${error.message}${notUndone}` };
    }
  });
}

/** Calls `work` with a signal that aborts after `ms`, or as soon as `signal` aborts. */
async function within<T>(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [late, ended] = [new AbortController(), new AbortController()];
  void clock.sleep(ms, ended.signal).then(() => late.abort());
  try {
    return await work(signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]));
  } finally {
    ended.abort();
  }
}
