import { printYaml } from '../../core/json/print-yaml.ts';
import type { JsonObject } from '../../core/json.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { printAnswers } from '../output/print-answer.ts';
import { renderTable } from '../output/table.ts';
import type { PropagationKey } from '../writes/write-targets.ts';
import type { OutcomeFormat } from './propagation-outcome.ts';

interface Revision {
  readonly revision: number;
  readonly createdAt: string;
  readonly requester: string | null;
  readonly digest: string;
  readonly spec: JsonObject;
}

/** The largest number of revisions in one answer. The hub keeps no more. */
const maxRevisions = 10;

/**
 * Prints the revisions of a Propagation, newest first, or the spec of one of them.
 *
 * @returns 0.
 * @throws {CommandFailure} if the Propagation or the revision does not exist.
 */
export async function showHistory(
  { gateway, terminal }: Session,
  { namespace, name }: PropagationKey,
  { revision: wanted, output }: { readonly revision?: number; readonly output?: OutcomeFormat },
): Promise<number> {
  const query = `query ($namespace: String!, $name: String!) {
    propagation(namespace: $namespace, name: $name) { revisions(first: ${maxRevisions}) { revision createdAt requester digest spec } }
  }`;
  const { propagation } = await gateway.query<{ readonly propagation: { readonly revisions: readonly Revision[] } | null }>(query, {
    namespace,
    name,
  });
  if (propagation === null)
    throw new CommandFailure(exitCodes.failed, `there is no Propagation ${name} in the namespace ${namespace} of the hub`);
  const revisions = propagation.revisions
    .filter(({ revision }) => wanted === undefined || revision === wanted)
    .toSorted((a, b) => b.revision - a.revision);
  if (wanted !== undefined && revisions.length === 0)
    throw new CommandFailure(
      exitCodes.failed,
      `there is no revision ${wanted} of ${name}: expected one of ${numbersOf(propagation.revisions)}`,
    );
  await terminal.out(textOf(revisions, { isOne: wanted !== undefined, output }));
  return exitCodes.good;
}

function textOf(
  revisions: readonly Revision[],
  { isOne, output }: { readonly isOne: boolean; readonly output: OutcomeFormat | undefined },
) {
  if (output === 'json' || output === 'yaml') return printAnswers(revisions, output);
  const [only] = revisions;
  if (isOne && only !== undefined) return printYaml(only.spec);
  const rows = revisions.map(({ revision, createdAt, requester, digest }) => [String(revision), createdAt, requester ?? '<none>', digest]);
  return renderTable(['REVISION', 'CREATED', 'REQUESTER', 'DIGEST'], rows);
}

function numbersOf(revisions: readonly Revision[]): string {
  return revisions.map(({ revision }) => revision).join(', ');
}
