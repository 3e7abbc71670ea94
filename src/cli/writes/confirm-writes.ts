import { kindAndName } from '../../core/columns/object-names.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { printable } from '../output/table.ts';
import { type ConsentFlags, type DryRunFlags, isRealRun } from './write-options.ts';
import type { TargetObject } from './write-results.ts';

/** The largest number of objects that a question names. */
const maxNamed = 10;

/** True if no person is to be asked: a dry run, a flag that agrees, or no terminal to ask on. */
export function isAgreed({ terminal }: Pick<Session, 'terminal'>, flags: ConsentFlags & DryRunFlags): boolean {
  return flags.yes === true || flags.allClusters === true || !isRealRun(flags) || !terminal.canAsk;
}

/**
 * Asks a person before a write to more than one cluster. The question names the objects and each cluster.
 *
 * Asks nothing for a dry run, with `--context`, `--all-clusters` or `--yes`, and if standard input or standard error is no terminal.
 *
 * @param action The word for the write, such as `delete`.
 * @throws {CommandFailure} with exit code 1 unless the answer is `y` or `yes`.
 */
export async function confirmWrites(
  { terminal, clusters: named }: Pick<Session, 'terminal' | 'clusters'>,
  { action, objects }: { readonly action: string; readonly objects: readonly TargetObject[] },
  flags: ConsentFlags & DryRunFlags,
): Promise<void> {
  const clusters = [...new Set(objects.map(({ cluster }) => cluster))].sort();
  if (isAgreed({ terminal }, flags) || named !== null || clusters.length < 2) return;
  const names = [...new Set(objects.map(({ object }) => nameOf(object)))];
  const shown = names.slice(0, maxNamed).map((name) => `  ${printable(name)}\n`);
  const more = names.length > maxNamed ? `  … and ${names.length - maxNamed} more\n` : '';
  const question = `${action} in ${clusters.length} clusters: ${printable(clusters.join(', '))}\n${shown.join('')}${more}Continue? [y/N] `;
  const answer = await terminal.ask(question);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandFailure(exitCodes.failed, 'nothing was changed');
}

function nameOf(object: TargetObject['object']): string {
  const { namespace } = object.metadata;
  return `${kindAndName(object)}${namespace === undefined || namespace === null || namespace === '' ? '' : ` in ${namespace}`}`;
}
