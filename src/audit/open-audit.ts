import type { Writable } from 'node:stream';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type Audit, noAudit } from './audit.ts';
import { type AuditSink, createStreamSink, openFileSink } from './audit-sinks.ts';
import { createAudit } from './create-audit.ts';

interface AuditSettings {
  /** Where lines are written: `file`, else `output`. Undefined: nothing is recorded. */
  readonly audit?: { readonly file?: string | undefined } | undefined;
  /** The config file, for errors. */
  readonly configFile?: string | undefined;
  readonly output: Writable;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Opens the audit of a gateway.
 *
 * @throws {MusterError} `BAD_INPUT` if the file cannot be written.
 */
export async function openAudit({ audit, configFile, output, clock, log }: AuditSettings): Promise<Audit & AsyncDisposable> {
  if (audit === undefined) return { ...noAudit, [Symbol.asyncDispose]: () => Promise.resolve() };
  return createAudit({ sink: await openSink(audit.file, { configFile, output }), clock, log });
}

async function openSink(
  file: string | undefined,
  { configFile, output }: Pick<AuditSettings, 'configFile' | 'output'>,
): Promise<AuditSink> {
  if (file === undefined) return createStreamSink(output);
  try {
    return await openFileSink(file);
  } catch (error) {
    const { code = 'an error' } = error as NodeJS.ErrnoException;
    const where = configFile === undefined ? 'audit.file' : `${configFile}: audit.file`;
    throw new MusterError('BAD_INPUT', `${where}: expected a file that can be written, got ${code}`, { cause: error });
  }
}
