import type { Command as Commander } from 'commander';
import { changeWorkloads } from '../change-workloads.ts';
import { type GatewayFlags, type Run, type SourceFlags, withGatewayOptions } from '../gateway-options.ts';
import { type DryRunFlags, isRealRun, withTargets, withWrites } from '../write-options.ts';
import type { ResultFormat } from '../write-results.ts';

type RestartFlags = GatewayFlags & SourceFlags & DryRunFlags & { readonly output?: ResultFormat };

const help = `
As kubectl rollout restart, in each cluster: those that --context names, else
all.
  muster restart deploy/web -n shop

An object that is in some clusters and not in others is no failure, unless its
cluster was named. Exits with 1 if one could not be restarted, or is nowhere.`;

/** `muster restart`: new Pods for workloads, in many clusters. */
export function addRestart(program: Commander, run: Run): void {
  withWrites(withTargets(withGatewayOptions(program.command('restart'))))
    .description('replace the Pods of workloads in many clusters, one after the other')
    .addHelpText('after', help)
    .action((words: readonly string[], flags: RestartFlags) =>
      run(flags, (session) => changeWorkloads(session, { field: 'restart', words, rest: {}, configured: 'restarted' }, flags), {
        writes: isRealRun(flags),
      }),
    );
}
