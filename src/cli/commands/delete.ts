import { type Command as Commander, Option } from 'commander';
import { type GatewayFlags, type RunCommand, type SourceFlags, withGatewayOptions } from '../arguments/gateway-options.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { changePropagations, keyInputs } from '../propagation/propagation-outcome.ts';
import { type ObjectMutation, runObjectMutation, type WriteFlags } from '../writes/write-objects.ts';
import { isRealRun, withTargets, withWrites } from '../writes/write-options.ts';
import { type PropagationKey, resolveTargets } from '../writes/write-targets.ts';

const cascades = ['background', 'foreground', 'orphan'] as const;

type DeleteFlags = GatewayFlags & SourceFlags & WriteFlags & { readonly cascade?: (typeof cascades)[number]; readonly wait?: boolean };

const help = `
In each cluster: those that --context names, else all. KIND is any name of a
kind, as kubectl takes it:
  muster delete deploy web api -n shop --context north
  muster delete cm/settings deploy/web -n shop
  muster delete -f app/ --dry-run

A Propagation is taken back: its copies go, and it goes after them; with
--cascade orphan they stay. Without a gateway that runs, this process does that
work, and stays until it is done, as with --wait.
  muster delete propagation web -n shop

An object that is in some clusters and not in others is no failure, unless its
cluster was named. Exits with 1 if one could not be deleted, or is nowhere.`;

/** Adds `muster delete`: deletes objects in many clusters, and Propagations. */
export function addDeleteCommand(program: Commander, run: RunCommand): void {
  withWrites(withTargets(withGatewayOptions(program.command('delete'))))
    .description('delete objects in many clusters, or take a Propagation back')
    .addOption(new Option('--cascade <how>', 'what becomes of what they own (default: background)').choices(cascades))
    .option('--wait', 'of a Propagation: stay until it is gone')
    .addHelpText('after', help)
    .action((words: readonly string[], flags: DeleteFlags) =>
      run(flags, (session) => deleteObjects(session, words, flags), { writes: isRealRun(flags) }),
    );
}

async function deleteObjects(session: Session, words: readonly string[], flags: DeleteFlags): Promise<number> {
  const { targets, objects, propagations } = await resolveTargets(session, words, flags);
  if (propagations.length > 0 && !isRealRun(flags))
    throw new CommandFailure(exitCodes.refused, 'expected no --dry-run with a Propagation: muster rollout status says what it holds');
  const taken = propagations.length === 0 ? exitCodes.good : await takeBack(session, propagations, flags);
  if (targets.length === 0) return taken;
  const writes: ObjectMutation = {
    field: 'delete',
    list: { name: 'targets', type: '[Target!]!', items: targets },
    writesPerItem: 1,
    rest: { cascade: { type: 'Cascade', value: (flags.cascade ?? 'background').toUpperCase() } },
    objects,
    word: 'deleted',
    configured: 'configured',
    absence: 'allowed',
  };
  return Math.max(taken, await runObjectMutation(session, writes, flags));
}

async function takeBack(session: Session, places: readonly PropagationKey[], { cascade, wait, output }: DeleteFlags): Promise<number> {
  // Without the flag, the spec of the Propagation decides.
  const deletion =
    cascade === undefined ? null : cascade === 'orphan' ? { policy: 'ORPHAN' } : { policy: 'DELETE', cascade: cascade.toUpperCase() };
  const changes = places.map((place) => {
    const inputs = { ...keyInputs(place), deletion: { type: 'DeletionInput', value: deletion } };
    return { ...place, field: 'deletePropagation', inputs };
  });
  const until = session.ownsGateway || wait === true ? 'gone' : 'accepted';
  return changePropagations(session, changes, { output, word: () => 'deleted', until });
}
