import type { Clock } from '../core/clock.ts';
import { RegistrationProblem, type RegistrationStep, RegistrationSteps, type UndoFilter } from './registration-steps.ts';

/** The result of `muster join` and `muster leave`. */
export type RegistrationResult =
  /** `notes` are hints for the user, one line each. */
  | { readonly result: 'done'; readonly steps: readonly RegistrationStep[]; readonly notes: readonly string[] }
  /** `steps` are the changes that were not undone. */
  | { readonly result: 'failed'; readonly steps: readonly RegistrationStep[]; readonly message: string };

/** Maximum milliseconds for all steps of a command (`workMs`), and for undoing them (`undoMs`). */
const workMs = 120_000;
const undoMs = 20_000;

export interface RunOptions {
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
  { dryRun, clock, signal, undoFilter }: RunOptions,
  work: (steps: RegistrationSteps, signal: AbortSignal) => Promise<readonly string[]>,
): Promise<RegistrationResult> {
  return within(workMs, { clock, signal }, async (until) => {
    const steps = new RegistrationSteps(dryRun ? 'dry' : 'real', until);
    try {
      const notes = await work(steps, until);
      return { result: 'done', steps: steps.done(), notes };
    } catch (error) {
      if (!(error instanceof RegistrationProblem)) throw error;
      // An interrupted command also fails with a RegistrationProblem, so its steps are undone.
      const problems = await within(undoMs, { clock }, (undoing) => steps.undo(undoing, undoFilter));
      const rest = problems.length === 0 ? '' : ` (not undone: ${problems.join('; ')})`;
      return { result: 'failed', steps: steps.done(), message: `${error.message}${rest}` };
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
