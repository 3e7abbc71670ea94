import {
  type AnsweredKey,
  answeredKeyFields,
  fullObjectName,
  kindAndName,
  type NamedObject,
  objectOfKey,
} from '../../core/columns/object-names.ts';
import { type ClusterFault, ClusterFaultReport, faultFields } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { diffLines } from '../output/diff-lines.ts';
import { documentFormats, printAnswers } from '../output/print-answer.ts';
import { paintFor, printable, textOfLines } from '../output/table.ts';

/** The result of writing one object in one cluster. */
export interface ObjectWriteResult {
  readonly cluster: { readonly name: string };
  readonly key: AnsweredKey;
  readonly action: string;
  readonly diff: string | null;
  readonly warnings: readonly string[];
  readonly fault: ClusterFault | null;
}

/** Output formats of results. */
export const resultFormats = [...documentFormats, 'name'] as const;

export type ResultFormat = (typeof resultFormats)[number];

export interface ResultOptions {
  readonly output: ResultFormat | undefined;
  readonly isDry: boolean;
  /** The word for the action CONFIGURED, as in kubectl: `scaled`. */
  readonly configured: string;
  /** The words for the action UNCHANGED. Default: `unchanged`. */
  readonly unchanged?: string | undefined;
  /**
   * `failure`: an object that a cluster does not have is a failure. `allowed`: no failure if another cluster has the object. With `--context`,
   * `allowed` means the same as `failure`. `ignored`: an object that a cluster does not have is no failure, and is not reported.
   */
  readonly absence: 'failure' | 'allowed' | 'ignored';
}

/** Returns the GraphQL selection of an `Outcome`. Formats for programs select whole objects. */
export function writeResultFields(output: ResultFormat | undefined): string {
  const whole = output === 'json' || output === 'yaml' ? 'resource { object }' : '';
  const status = 'status { message reason causes { field message } }';
  return `ok results { cluster { name } key { ${answeredKeyFields} } action diff warnings fault { ${faultFields} ${status} } ${whole} }`;
}

/**
 * Prints a line for each result as kubectl does, with its cluster, and the diff of a dry run. Failures go to standard error.
 *
 * @returns The exit code: 1 if a write failed. An object that may be absent and exists in another cluster is no failure.
 */
export async function printResults(session: Session, all: readonly ObjectWriteResult[], options: ResultOptions): Promise<number> {
  const { terminal } = session;
  const { output, absence } = options;
  const results = absence === 'ignored' ? all.filter(({ fault }) => !absent.has(fault?.code ?? '')) : all;
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

/**
 * Refuses an output format that a client-side dry run cannot print.
 *
 * @throws {CommandFailure} for a format that needs the answer of an API server: `json` or `yaml`.
 */
export function refuseClientRun(output: string | undefined): void {
  if (output === 'json' || output === 'yaml')
    throw new CommandFailure(exitCodes.refused, `expected --dry-run=server with -o ${output}, got --dry-run=client`);
}

/** An object in the cluster where it would be written. */
export interface TargetObject {
  readonly cluster: string;
  readonly object: NamedObject;
}

/** Prints a line for each object that would be written, without a request to any API server. @returns 0. */
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

/** Returns the line of a result. Empty for a failure, which the fault report prints. */
function lineOf(
  { terminal }: Session,
  { cluster, key, action, diff }: ObjectWriteResult,
  { output, isDry, configured, unchanged = 'unchanged' }: ResultOptions,
): string {
  if (action === 'FAILED') return '';
  if (output === 'name') return `${printable(fullObjectName(cluster.name, objectOfKey(key)))}\n`;
  const word = action === 'CONFIGURED' ? configured : action === 'UNCHANGED' ? unchanged : action.toLowerCase();
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

/** Returns a key of an object in any cluster. It leaves out the version of the kind, which may differ between clusters. */
function placeOf({ kind, namespace, name }: AnsweredKey): string {
  return `${kind}/${namespace ?? 'default'}/${name}`;
}
