import { CommandFailure, exitCodes } from './command-failure.ts';
import type { SourceFlags } from './gateway-options.ts';
import type { Session } from './session.ts';
import { type ListedWrite, writeObjects } from './write-objects.ts';
import type { DryRunFlags } from './write-options.ts';
import { type ResultFormat, tellClientRun, tellResults } from './write-results.ts';
import { meantObjects } from './write-targets.ts';

/** What is done to workloads. */
export interface WorkloadChange extends Pick<ListedWrite, 'field' | 'rest'> {
  /** `KIND NAME…` or `KIND/NAME…`. */
  readonly words: readonly string[];
  /** What it is called once it is done. */
  readonly configured: string;
}

export type WorkloadFlags = SourceFlags & DryRunFlags & { readonly output?: ResultFormat };

/** Does it to each in each cluster, and tells what came of it. */
export async function changeWorkloads(session: Session, change: WorkloadChange, flags: WorkloadFlags): Promise<number> {
  const { field, rest, words, configured } = change;
  const { dryRun, output } = flags;
  const isDry = dryRun === 'server';
  const { targets, objects, propagations } = await meantObjects(session, words, flags);
  if (propagations.length > 0)
    throw new CommandFailure(exitCodes.refused, `expected workloads to ${field}, got a Propagation: change its intent`);
  if (dryRun === 'client') return tellClientRun(session, objects, { output, word: configured });
  const results = await writeObjects(session.gateway, {
    field,
    list: { name: 'targets', type: '[Target!]!', items: targets },
    writesPerItem: 1,
    rest: { ...rest, dryRun: { type: 'Boolean', value: isDry } },
    output,
  });
  return tellResults(session, results, { output, isDry, configured, absence: 'allowed' });
}
