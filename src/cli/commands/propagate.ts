import { type Command as Commander, InvalidArgumentError, Option } from 'commander';
import { objectOfKey } from '../../core/columns/object-names.ts';
import { type GatewayFlags, type RunCommand, type SourceFlags, withFiles, withGatewayOptions } from '../arguments/gateway-options.ts';
import { readIntentFiles } from '../arguments/read-sources.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { ParsedIntent } from '../client/manifest-reader.ts';
import type { Session } from '../client/session.ts';
import { documentFormats } from '../output/print-answer.ts';
import { printable, textOfLines } from '../output/table.ts';
import { planDifferences } from '../propagation/plan-differences.ts';
import { planIntents, plansOf } from '../propagation/plan-intents.ts';
import { changePropagations, type OutcomeFormat } from '../propagation/propagation-outcome.ts';
import { confirmWrites, isAgreed } from '../writes/confirm-writes.ts';
import { type DryRunFlags, isRealRun, withDryRun } from '../writes/write-options.ts';
import { refuseClientRun } from '../writes/write-results.ts';

type PropagateFlags = GatewayFlags &
  SourceFlags &
  DryRunFlags & { readonly yes?: boolean; readonly digest?: string; readonly wait?: boolean; readonly output?: OutcomeFormat };

const help = `
The files contain Propagations (muster.dev/v1alpha1); kubectl apply of such a
file on the hub does the same. --hub names the hub, which needs deploy/crds.
  muster propagate -f intent.yaml --hub north
  muster propagate -f intent.yaml --digest DIGEST --gateway 127.0.0.1:4000
--digest carries out exactly the plan with this digest, or nothing (muster plan
prints it). Without --digest, a person on a terminal is asked before copies in
more than one cluster change; -y agrees.
Without a running gateway, this process does the work: it waits until the
rollout ends, and shows the progress. With --gateway it returns once
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
    .option('-y, --yes', 'record without a question')
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

async function propagate(session: Session, intents: readonly ParsedIntent[], flags: PropagateFlags): Promise<number> {
  const { digest, wait, dryRun, output } = flags;
  if (digest !== undefined && intents.length > 1)
    throw new CommandFailure(exitCodes.refused, `expected one intent with --digest, got ${intents.length}`);
  if (dryRun === 'client') {
    refuseClientRun(output);
    await session.terminal.out(textOfLines(intents.map(({ name }) => printable(`propagation.muster.dev/${name} (dry run)`))));
    return exitCodes.good;
  }
  if (dryRun === 'server' && output === 'name')
    throw new CommandFailure(exitCodes.refused, 'expected -o json or yaml with --dry-run, got name');
  if (dryRun === 'server') return planIntents(session, intents, { output: output === 'name' ? undefined : output });
  const digests = digest === undefined ? await confirmPlans(session, intents, flags) : [digest];
  const changes = intents.map(({ namespace, name, input }, index) => {
    const inputs = { input: { type: 'PropagationInput!', value: input }, digest: { type: 'String', value: digests[index] ?? null } };
    return { namespace, name, field: 'propagate', inputs };
  });
  const until = session.ownsGateway || wait === true ? 'settled' : 'accepted';
  return changePropagations(session, changes, { output, until, word: ({ generation }) => (generation === 1 ? 'created' : 'configured') });
}

/**
 * Asks a person on a terminal before copies in more than one cluster change.
 *
 * @returns For each intent the digest of the plan in the question: only this plan may be carried out. Undefined for a plan with an error, which the
 * gateway refuses by itself, and says why. Empty if no person is on a terminal, or a flag agrees.
 * @throws {CommandFailure} if the person does not agree.
 */
async function confirmPlans(
  session: Session,
  intents: readonly ParsedIntent[],
  flags: PropagateFlags,
): Promise<readonly (string | undefined)[]> {
  if (isAgreed(session, flags)) return [];
  const plans = await plansOf(session, intents);
  const objects = plans
    .flatMap((plan) => (plan.ok ? planDifferences(plan).differences : []))
    .map(({ cluster, object }) => ({ cluster, object: objectOfKey(object.key) }));
  // An intent chooses its clusters, so --context is no consent.
  await confirmWrites({ ...session, clusters: null }, { action: 'propagate', objects }, flags);
  return plans.map(({ ok, digest }) => (ok ? digest : undefined));
}
