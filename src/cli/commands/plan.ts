import { type Command as Commander, Option } from 'commander';
import { type GatewayFlags, type RunCommand, type SourceFlags, withFiles, withGatewayOptions } from '../arguments/gateway-options.ts';
import { readIntentFiles } from '../arguments/read-sources.ts';
import { type DocumentFormat, documentFormats } from '../output/print-answer.ts';
import { planIntents } from '../propagation/plan-intents.ts';

type PlanFlags = GatewayFlags & SourceFlags & { readonly output?: DocumentFormat; readonly exitCode?: boolean };

const help = `
The files contain Propagations (muster.dev/v1alpha1). Nothing is written: each
API server tries its copy in a dry run.
Shows for each cluster whether it is chosen, or why not; its replicas before and
after; its wave; the actions on its objects; and the overrides that apply. Then
follow the changes, overrides without effect, and problems of the intent. The
last line is the digest of the plan:
  muster plan -f intent.yaml
  muster propagate -f intent.yaml --digest DIGEST
carries out exactly this plan, or nothing if anything has changed in between.
-o json and -o yaml print the whole plan with its manifests. With a running
gateway, --context limits only the clusters that are shown.
Exits with 1 if the plan has an error.`;

/** Adds `muster plan`: shows what an intent would do. */
export function addPlanCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(withFiles(program.command('plan')))
    .description('show what an intent would do in each cluster, without writing')
    .addOption(new Option('-o, --output <format>', 'output format').choices(documentFormats))
    .option('--exit-code', 'exit with 1 if anything differs, with 3 if that is not known')
    .addHelpText('after', help)
    .action((flags: PlanFlags) =>
      run(flags, async (session) =>
        planIntents(session, await readIntentFiles(session, flags), { output: flags.output, hasExitCode: flags.exitCode }),
      ),
    );
}
