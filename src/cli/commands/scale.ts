import type { Command as Commander } from 'commander';
import { changeWorkloads } from '../change-workloads.ts';
import { type GatewayFlags, type Run, type SourceFlags, wholeNumber, withGatewayOptions } from '../gateway-options.ts';
import { type DryRunFlags, isRealRun, withTargets, withWrites } from '../write-options.ts';
import type { ResultFormat } from '../write-results.ts';

type ScaleFlags = GatewayFlags & SourceFlags & DryRunFlags & { readonly replicas: number; readonly output?: ResultFormat };

const help = `
In each cluster: those that --context names, else all; the same count in each.
  muster scale deploy/web --replicas 3 -n shop --context north
What a Propagation keeps true is set back: change its count instead.

An object that is in some clusters and not in others is no failure, unless its
cluster was named. Exits with 1 if one could not be scaled, or is nowhere.`;

/** `muster scale`: the count of replicas, in many clusters. */
export function addScale(program: Commander, run: Run): void {
  withWrites(withTargets(withGatewayOptions(program.command('scale'))))
    .description('set the count of replicas of workloads in many clusters')
    .requiredOption('--replicas <count>', 'how many', wholeNumber(0, 999_999_999))
    .addHelpText('after', help)
    .action((words: readonly string[], flags: ScaleFlags) => {
      const rest = { replicas: { type: 'Int!', value: flags.replicas } };
      return run(flags, (session) => changeWorkloads(session, { field: 'scale', words, rest, configured: 'scaled' }, flags), {
        writes: isRealRun(flags),
      });
    });
}
