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
Applies each object of the files in each cluster of --context, else in all.
Server-side apply changes only the fields in the files:
  muster apply -f namespace.yaml -f app/ --context north --context south
  muster apply -f app/ --dry-run
--dry-run writes nothing: each API server tries the write, and the changes are
shown. --dry-run=client sends nothing, and lists what would be written where.
A field of another manager is a conflict that names this manager; --force takes
the field. A Propagation belongs on the hub: use muster propagate.
Exits with 1 if one object could not be written in one cluster.`;

/** Adds `muster apply`: applies the same objects in many clusters. */
export function addApplyCommand(program: Commander, run: RunCommand): void {
  withWrites(withGatewayOptions(withFiles(program.command('apply'))))
    .description('apply objects in many clusters')
    .option('--force', 'take fields that other managers own')
    .addHelpText('after', help)
    .action((flags: ApplyFlags) => run(flags, (session) => applyFiles(session, flags), { writes: isRealRun(flags) }));
}

async function applyFiles(session: Session, flags: ApplyFlags): Promise<number> {
  const manifests = await readManifestFiles(session, flags);
  const intent = manifests.find(isPropagation);
  if (intent !== undefined && session.clusters === null)
    throw new CommandFailure(
      exitCodes.refused,
      `expected objects for clusters, got the Propagation ${intent.metadata.name}: record it on the hub with muster propagate -f`,
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
