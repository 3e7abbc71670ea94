import type { Command as Commander } from 'commander';
import { type GatewayFlags, type RunCommand, type SourceFlags, withFiles, withGatewayOptions } from '../arguments/gateway-options.ts';
import { readManifestFiles } from '../arguments/read-sources.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { type ObjectMutation, runObjectMutation, type WriteFlags } from '../writes/write-objects.ts';
import { isRealRun, withWrites } from '../writes/write-options.ts';
import { isPropagation, targetClusters } from '../writes/write-targets.ts';

type ApplyFlags = GatewayFlags & SourceFlags & WriteFlags & { readonly force?: boolean };

const help = `
Each object of the files in each cluster: those that --context names, else all.
Only the fields that stand in the files are changed, server-side:
  muster apply -f namespace.yaml -f app/ --context north --context south
  muster apply -f app/ --dry-run

--dry-run writes nothing: each API server is asked, and what would change is
shown. --dry-run=client asks none, and shows what would be written where.
A field that somebody else manages is a conflict, told with its manager;
--force takes it. A Propagation belongs to the hub: muster propagate.

Exits with 1 if one object of one cluster could not be written.`;

/** Adds `muster apply`: applies the same objects in many clusters. */
export function addApplyCommand(program: Commander, run: RunCommand): void {
  withWrites(withGatewayOptions(withFiles(program.command('apply'))))
    .description('apply objects in many clusters')
    .option('--force', 'take fields that somebody else manages')
    .addHelpText('after', help)
    .action((flags: ApplyFlags) => run(flags, (session) => applyFiles(session, flags), { writes: isRealRun(flags) }));
}

async function applyFiles(session: Session, flags: ApplyFlags): Promise<number> {
  const manifests = await readManifestFiles(session, flags);
  const intent = manifests.find(isPropagation);
  if (intent !== undefined && session.clusters === null)
    throw new CommandFailure(
      exitCodes.refused,
      `expected objects of clusters, got the Propagation ${intent.metadata.name}: it belongs to the hub, as muster propagate -f brings it there`,
    );
  const clusters = await targetClusters(session);
  const writes: ObjectMutation = {
    field: 'apply',
    list: { name: 'manifests', type: '[Manifest!]!', items: manifests.map((json) => ({ json })) },
    writesPerItem: clusters.length,
    rest: { clusters: { type: '[String!]!', value: clusters }, force: { type: 'Boolean', value: flags.force ?? false } },
    objects: manifests.flatMap((object) => clusters.map((cluster) => ({ cluster, object }))),
    word: 'applied',
    configured: 'configured',
    absence: 'failure',
  };
  return runObjectMutation(session, writes, flags);
}
