import { MusterError } from '../core/errors.ts';
import type { Audit, AuditedAction } from './audit.ts';

interface AuditedRun<Result> {
  readonly run: () => Promise<Result>;
  readonly factsOf: (result: Result) => Pick<AuditedAction, 'objects' | 'manifestHash'>;
}

/** The code of an action that a bug or an abort has ended. */
const unknownCode = 'INTERNAL_SERVER_ERROR';

/**
 * Carries out an action with `run`, and writes its line before the result is returned. If `run` throws, the line has no objects.
 *
 * @param factsOf Returns the parts of the line that depend on the result.
 * @throws {MusterError} `UNAVAILABLE` if no line can be written. If this is known before, the action is not carried out.
 */
export async function audited<Result>(
  audit: Audit,
  action: Omit<AuditedAction, 'objects' | 'code'>,
  { run, factsOf }: AuditedRun<Result>,
): Promise<Result> {
  await audit.check();
  let result: Result;
  try {
    result = await run();
  } catch (error) {
    const code = error instanceof MusterError ? error.code : unknownCode;
    await audit.record({ ...action, objects: [], code });
    throw error;
  }
  await audit.record({ ...action, ...factsOf(result) });
  return result;
}
