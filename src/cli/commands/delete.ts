import { type Command as Commander, Option } from 'commander';
import { type GatewayFlags, type RunCommand, withGatewayOptions } from '../arguments/gateway-options.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { changePropagations, keyInputs } from '../propagation/propagation-outcome.ts';
import { confirmWrites } from '../writes/confirm-writes.ts';
import { type ObjectMutation, runObjectMutation, type WriteFlags } from '../writes/write-objects.ts';
import { isRealRun, withTargets, withWrites } from '../writes/write-options.ts';
import type { TargetObject } from '../writes/write-results.ts';
import { type PropagationKey, resolveTargets, type TargetFlags } from '../writes/write-targets.ts';

const cascades = ['background', 'foreground', 'orphan'] as const;

type DeleteFlags = GatewayFlags &
  TargetFlags &
  WriteFlags & { readonly cascade?: (typeof cascades)[number]; readonly wait?: boolean; readonly ignoreNotFound?: boolean };

const help = `
Deletes objects in each cluster of --context, else in all. KIND is any name of a
kind, as in kubectl:
  muster delete deploy web api -n shop --context north
  muster delete cm/settings deploy/web -n shop
  muster delete -f app/ --dry-run
  muster delete cm -l sweep=yes -n shop
Deleting a Propagation deletes its copies, then the Propagation itself; with
--cascade orphan the copies stay. Without a running gateway, this process does
the work and waits for its end, as with --wait.
  muster delete propagation web -n shop
An object that only some clusters have is no failure, unless --context names the
cluster without it. Exits with 1 if an object could not be deleted, or is in no
cluster; with --ignore-not-found, a missing object or Propagation is no failure.`;

/** Adds `muster delete`: deletes objects in many clusters, and Propagations. */
export function addDeleteCommand(program: Commander, run: RunCommand): void {
  withWrites(withTargets(withGatewayOptions(program.command('delete'))))
    .description('delete objects in many clusters, or a Propagation with its copies')
    .addOption(new Option('--cascade <how>', 'what happens to owned objects (default: background)').choices(cascades))
    .option('--wait', 'Propagations: wait until they are gone')
    .option('--ignore-not-found', 'an object or Propagation that does not exist is no failure')
    .addHelpText('after', help)
    .action((words: readonly string[], flags: DeleteFlags) =>
      run(flags, (session) => deleteObjects(session, words, flags), { writes: isRealRun(flags) }),
    );
}

async function deleteObjects(session: Session, words: readonly string[], flags: DeleteFlags): Promise<number> {
  const { targets, objects, propagations: named, isPartial } = await resolveTargets(session, words, flags);
  if (named.length > 0 && !isRealRun(flags))
    throw new CommandFailure(exitCodes.refused, 'expected no --dry-run with a Propagation: muster rollout status lists its copies');
  const found = await clustersWithCopies(session, named);
  const copies = found.flatMap(({ key, clusters = [] }) => clusters.map((cluster) => ({ cluster, object: objectOf(key) })));
  const propagations = flags.ignoreNotFound === true ? found.filter(({ clusters }) => clusters !== undefined).map(({ key }) => key) : named;
  await confirmWrites(session, { action: 'delete', objects: [...copies, ...objects] }, flags);
  const taken = propagations.length === 0 ? exitCodes.good : await deletePropagations(session, propagations, flags);
  const writes: ObjectMutation = {
    field: 'delete',
    list: { name: 'targets', type: '[Target!]!', items: targets },
    writesPerItem: 1,
    rest: { cascade: { type: 'Cascade', value: (flags.cascade ?? 'background').toUpperCase() } },
    objects,
    word: 'deleted',
    configured: 'configured',
    absence: flags.ignoreNotFound === true ? 'ignored' : 'allowed',
  };
  const deleted = await runObjectMutation(session, writes, { ...flags, yes: true });
  return Math.max(taken, deleted, isPartial ? exitCodes.failed : exitCodes.good);
}

function objectOf(key: PropagationKey): TargetObject['object'] {
  return { apiVersion: 'muster.dev/v1alpha1', kind: 'Propagation', metadata: key };
}

interface PropagationClusters {
  readonly key: PropagationKey;
  /** The names of the clusters that have copies. Undefined if there is no such Propagation. */
  readonly clusters: readonly string[] | undefined;
}

async function clustersWithCopies({ gateway }: Session, keys: readonly PropagationKey[]): Promise<readonly PropagationClusters[]> {
  const query =
    'query ($namespace: String!, $name: String!) { propagation(namespace: $namespace, name: $name) { clusters { cluster { name } } } }';
  return Promise.all(
    keys.map(async (key) => {
      const { propagation } = await gateway.query<{ readonly propagation: CopyClusters | null }>(query, { ...key });
      return { key, clusters: propagation?.clusters.map(({ cluster }) => cluster.name) };
    }),
  );
}

interface CopyClusters {
  readonly clusters: readonly { readonly cluster: { readonly name: string } }[];
}

async function deletePropagations(
  session: Session,
  keys: readonly PropagationKey[],
  { cascade, wait, output }: DeleteFlags,
): Promise<number> {
  // Without `--cascade`, the deletion policy in the spec of the Propagation decides.
  const deletion =
    cascade === undefined ? null : cascade === 'orphan' ? { policy: 'ORPHAN' } : { policy: 'DELETE', cascade: cascade.toUpperCase() };
  const changes = keys.map((key) => {
    const inputs = { ...keyInputs(key), deletion: { type: 'DeletionInput', value: deletion } };
    return { ...key, field: 'deletePropagation', inputs };
  });
  const until = session.ownsGateway || wait === true ? 'gone' : 'accepted';
  return changePropagations(session, changes, { output, word: () => 'deleted', until });
}
