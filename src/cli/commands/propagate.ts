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
The files contain Propagations (muster.dev/v1alpha1); kubectl apply of such a
file on the hub does the same. --hub names the hub, which needs deploy/crds.
  muster propagate -f intent.yaml --hub north
  muster propagate -f intent.yaml --digest DIGEST --gateway 127.0.0.1:4000
--digest carries out exactly the plan with this digest, or nothing (muster plan
prints it). Without a running gateway, this process does the work: it waits
until the rollout ends, and shows the progress. With --gateway it returns once
the intent is recorded; --wait makes it wait too. Without a running gateway,
--context limits the clusters, and the hub must be among them. With a running
gateway, --context has no effect.
Exits with 0 once the intent is recorded or, if it waits, settled. Exits with 1
if the intent is refused, if the plan is out of date, or if the rollout ends
failed, paused, held or degraded. Exits with 2 if the intent is invalid.`;

/** Adds `muster propagate`: records intents and follows them. */
export function addPropagateCommand(program: Commander, run: RunCommand): void {
  withDryRun(
    withGatewayOptions(withFiles(program.command('propagate'))),
    'only plan (=server, the default value), or only read the files (=client)',
  )
    .description('record an intent, and show its rollout')
    .option('--digest <digest>', 'only the plan with this digest of muster plan', digestOf)
    .option('--wait', 'with --gateway: wait until the rollout ends')
    .addOption(new Option('-o, --output <format>', 'output format of the result').choices([...documentFormats, 'name']))
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
