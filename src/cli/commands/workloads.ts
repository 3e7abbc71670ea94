import type { Command as Commander } from 'commander';
import { type GatewayFlags, type RunCommand, wholeNumberParser, withGatewayOptions } from '../arguments/gateway-options.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { type ObjectMutation, runObjectMutation, type WriteFlags } from '../writes/write-objects.ts';
import { isRealRun, withTargets, withWrites } from '../writes/write-options.ts';
import { resolveTargets, type TargetFlags } from '../writes/write-targets.ts';

type WorkloadFlags = GatewayFlags & TargetFlags & WriteFlags;

const restartHelp = `
Works as kubectl rollout restart, in each cluster of --context, else in all.
  muster restart deploy/web -n shop
An object that only some clusters have is no failure, unless --context names the
cluster without it. Exits with 1 if an object could not be restarted, or is in
no cluster.`;

/** Adds `muster restart`: replaces the Pods of workloads in many clusters. */
export function addRestartCommand(program: Commander, run: RunCommand): void {
  withWrites(withTargets(withGatewayOptions(program.command('restart'))))
    .description('replace the Pods of workloads in many clusters, one after the other')
    .addHelpText('after', restartHelp)
    .action((words: readonly string[], flags: WorkloadFlags) => {
      const change = { field: 'restart', words, rest: {}, word: 'restarted' };
      return run(flags, (session) => changeWorkloads(session, change, flags), { writes: isRealRun(flags) });
    });
}

const scaleHelp = `
Sets the same number of replicas in each cluster of --context, else in all.
  muster scale deploy/web --replicas 3 -n shop --context north
A Propagation resets its copies: change the count in its intent instead.
An object that only some clusters have is no failure, unless --context names the
cluster without it. Exits with 1 if an object could not be scaled, or is in no
cluster.`;

/** Adds `muster scale`: sets the replicas of workloads in many clusters. */
export function addScaleCommand(program: Commander, run: RunCommand): void {
  withWrites(withTargets(withGatewayOptions(program.command('scale'))))
    .description('set the replicas of workloads in many clusters')
    .requiredOption('--replicas <count>', 'number of replicas', wholeNumberParser(0, 999_999_999))
    .addHelpText('after', scaleHelp)
    .action((words: readonly string[], flags: WorkloadFlags & { readonly replicas: number }) => {
      const change = { field: 'scale', words, rest: { replicas: { type: 'Int!', value: flags.replicas } }, word: 'scaled' };
      return run(flags, (session) => changeWorkloads(session, change, flags), { writes: isRealRun(flags) });
    });
}

interface WorkloadChange extends Pick<ObjectMutation, 'field' | 'rest' | 'word'> {
  /** `KIND NAME…` or `KIND/NAME…`. */
  readonly words: readonly string[];
}

async function changeWorkloads(session: Session, { words, ...change }: WorkloadChange, flags: WorkloadFlags): Promise<number> {
  const { targets, objects, propagations, isPartial } = await resolveTargets(session, words, flags);
  if (propagations.length > 0)
    throw new CommandFailure(exitCodes.refused, `expected workloads to ${change.field}, got a Propagation: change its intent`);
  const list = { name: 'targets', type: '[Target!]!', items: targets };
  const writes = { ...change, list, objects, writesPerItem: 1, configured: change.word, absence: 'allowed' } as const;
  const code = await runObjectMutation(session, writes, flags);
  return isPartial ? Math.max(code, exitCodes.failed) : code;
}
