import { type Command as Commander, InvalidArgumentError, Option } from 'commander';
import { type GatewayFlags, type RunCommand, type SourceFlags, withFiles, withGatewayOptions } from '../arguments/gateway-options.ts';
import { readIntentFiles } from '../arguments/read-sources.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { ParsedIntent } from '../client/manifest-reader.ts';
import type { Session } from '../client/session.ts';
import { documentFormats } from '../output/print-answer.ts';
import { printable, textOfLines } from '../output/table.ts';
import { planIntents } from '../propagation/plan-intents.ts';
import { changePropagations, type OutcomeFormat } from '../propagation/propagation-outcome.ts';
import { type DryRunFlags, isRealRun, withDryRun } from '../writes/write-options.ts';
import { refuseClientRun } from '../writes/write-results.ts';

type PropagateFlags = GatewayFlags &
  SourceFlags &
  DryRunFlags & { readonly digest?: string; readonly wait?: boolean; readonly output?: OutcomeFormat };

const help = `
Files hold Propagations (muster.dev/v1alpha1); kubectl apply of such a file to
the hub does the same. The hub is the cluster of --hub, with deploy/crds applied
to it.

  muster propagate -f intent.yaml --hub north
  muster propagate -f intent.yaml --digest DIGEST --gateway 127.0.0.1:4000

With --digest exactly the plan of that digest is done, or nothing (muster plan
prints it). Without a gateway that runs, this process is the one that does the
work: it stays until no copy waits any more, and shows how far they are. With
--gateway it returns once the intent is recorded, or with --wait as if it did
the work. --context changes nothing of an intent; without a gateway that runs,
these are all the clusters there are, and the hub must be among them.

Exits with 0 once it is recorded, or settled where it stays; with 1 if it is
refused, if the plan no longer holds, or if it ends in another way: failed,
paused after failures, held for somebody to confirm, degraded; with 2 if the
intent cannot be understood.`;

/** Adds `muster propagate`: records intents and follows them. */
export function addPropagateCommand(program: Commander, run: RunCommand): void {
  withDryRun(
    withGatewayOptions(withFiles(program.command('propagate'))),
    'plan only (=server, as without a value), or only read the files (=client)',
  )
    .description('bring an intent to its clusters, and show how far that is')
    .option('--digest <digest>', 'only this plan, as muster plan printed it', digestOf)
    .option('--wait', 'with --gateway: stay until no copy waits any more')
    .addOption(new Option('-o, --output <format>', 'how the outcome is printed').choices([...documentFormats, 'name']))
    .addHelpText('after', help)
    .action((flags: PropagateFlags) =>
      run(flags, async (session) => propagate(session, await readIntentFiles(session, flags), flags), { writes: isRealRun(flags) }),
    );
}

function digestOf(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected the 64 hexadecimal digits that muster plan printed.');
}

async function propagate(
  session: Session,
  intents: readonly ParsedIntent[],
  { digest, wait, dryRun, output }: PropagateFlags,
): Promise<number> {
  if (digest !== undefined && intents.length > 1)
    throw new CommandFailure(exitCodes.refused, `expected one intent with --digest, got ${intents.length}`);
  if (dryRun === 'client') {
    refuseClientRun(output);
    await session.terminal.out(textOfLines(intents.map(({ name }) => printable(`propagation.muster.dev/${name} (dry run)`))));
    return exitCodes.good;
  }
  if (dryRun === 'server' && output === 'name')
    throw new CommandFailure(exitCodes.refused, 'expected -o json or yaml with --dry-run, got name');
  if (dryRun === 'server') return planIntents(session, intents, output === 'name' ? undefined : output);
  const changes = intents.map(({ namespace, name, input }) => {
    const inputs = { input: { type: 'PropagationInput!', value: input }, digest: { type: 'String', value: digest ?? null } };
    return { namespace, name, field: 'propagate', inputs };
  });
  const until = session.ownsGateway || wait === true ? 'settled' : 'accepted';
  return changePropagations(session, changes, { output, until, word: ({ generation }) => (generation === 1 ? 'created' : 'configured') });
}
