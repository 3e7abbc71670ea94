import { type ClusterFault, ClusterFaultReport, faultFields } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { type AnsweredKey, answeredKeyFields, fullObjectName, kindAndName, type NamedObject, objectOfKey } from '../client/object-names.ts';
import type { Session } from '../client/session.ts';
import { diffLines } from '../output/diff-lines.ts';
import { documentFormats, printAnswers } from '../output/print-answer.ts';
import { paintFor, printable, textOfLines } from '../output/table.ts';

/** What came of one write: one object in one cluster. */
export interface ObjectWriteResult {
  readonly cluster: { readonly name: string };
  readonly key: AnsweredKey;
  readonly action: string;
  readonly diff: string | null;
  readonly warnings: readonly string[];
  readonly fault: ClusterFault | null;
}

/** How results are printed. */
export const resultFormats = [...documentFormats, 'name'] as const;

export type ResultFormat = (typeof resultFormats)[number];

export interface ResultOptions {
  readonly output: ResultFormat | undefined;
  readonly isDry: boolean;
  /** What CONFIGURED is called, as kubectl calls it: `scaled`. */
  readonly configured: string;
  /** Whether an object may be absent in some of the clusters, if none was named. */
  readonly absence: 'failure' | 'allowed';
}

/** The selection of an `Outcome`: with objects, as programs want it. */
export function writeResultFields(output: ResultFormat | undefined): string {
  const whole = output === 'json' || output === 'yaml' ? 'resource { object }' : '';
  const status = 'status { message reason causes { field message } }';
  return `ok results { cluster { name } key { ${answeredKeyFields} } action diff warnings fault { ${faultFields} ${status} } ${whole} }`;
}

/**
 * Tells what came of writes: a line each as kubectl tells it, with its cluster; of a dry run also what would change; what failed on standard error. 1 if one
 * failed, 0 if all that failed are objects that may be absent where they are and are somewhere.
 */
export async function printResults(session: Session, results: readonly ObjectWriteResult[], options: ResultOptions): Promise<number> {
  const { terminal } = session;
  const { output } = options;
  if (output === 'json' || output === 'yaml')
    await terminal.out(printAnswers([{ ok: results.every(({ action }) => action !== 'FAILED'), results }], output));
  const report = new ClusterFaultReport(session);
  for (const result of results) {
    const { cluster, key, warnings, fault } = result;
    const where = printable(`${cluster.name}: ${kindAndName(objectOfKey(key))}`);
    if (output === undefined || output === 'name') await terminal.out(lineOf(session, result, options));
    report.print(fault === null ? [] : [{ ...fault, cluster: { name: where }, kind: null }]);
    for (const warning of warnings) terminal.err(`warning: ${where}: ${printable(warning)}\n`);
  }
  return exitCodeOf(session, results, options);
}

/** @throws {CommandFailure} for a format that only an API server can fill. */
export function refuseClientRun(output: string | undefined): void {
  if (output === 'json' || output === 'yaml')
    throw new CommandFailure(exitCodes.refused, `expected --dry-run=server with -o ${output}, got --dry-run=client`);
}

/** An object that would be written in a cluster. */
export interface TargetObject {
  readonly cluster: string;
  readonly object: NamedObject;
}

/** Prints a line for each object that would be written, and its cluster. No API server was asked. @returns 0. */
export async function printClientRun(
  { terminal }: Session,
  objects: readonly TargetObject[],
  { output, word }: { readonly output: ResultFormat | undefined; readonly word: string },
): Promise<number> {
  refuseClientRun(output);
  const lines = objects.map(({ cluster, object }) =>
    output === 'name' ? fullObjectName(cluster, object) : `${kindAndName(object)} ${word} (${cluster}) (dry run)`,
  );
  await terminal.out(textOfLines(lines.map(printable)));
  return exitCodes.good;
}

/** Nothing for what failed: that is told elsewhere. */
function lineOf(
  { terminal }: Session,
  { cluster, key, action, diff }: ObjectWriteResult,
  { output, isDry, configured }: ResultOptions,
): string {
  if (action === 'FAILED') return '';
  if (output === 'name') return `${printable(fullObjectName(cluster.name, objectOfKey(key)))}\n`;
  const word = action === 'CONFIGURED' ? configured : action.toLowerCase();
  const line = printable(`${kindAndName(objectOfKey(key))} ${word} (${cluster.name})${isDry ? ' (server dry run)' : ''}`);
  return textOfLines([line, ...diffLines(diff ?? '', paintFor(terminal))]);
}

function exitCodeOf({ clusters }: Session, results: readonly ObjectWriteResult[], { absence }: ResultOptions): number {
  const found = new Set(results.filter(({ action }) => action !== 'FAILED').map(({ key }) => placeOf(key)));
  const isAllowed = ({ key, fault }: ObjectWriteResult) =>
    absence === 'allowed' && clusters === null && absent.has(fault?.code ?? '') && found.has(placeOf(key));
  return results.every((result) => result.action !== 'FAILED' || isAllowed(result)) ? exitCodes.good : exitCodes.failed;
}

const absent = new Set(['NOT_FOUND', 'NOT_SERVED']);

/** The same object in whatever cluster: each may serve its kind in a version of its own, and where it serves none the namespace is as it was written. */
function placeOf({ kind, namespace, name }: AnsweredKey): string {
  return `${kind}/${namespace ?? 'default'}/${name}`;
}
