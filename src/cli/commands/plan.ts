import { type Command as Commander, Option } from 'commander';
import { type GatewayFlags, type RunCommand, type SourceFlags, withFiles, withGatewayOptions } from '../arguments/gateway-options.ts';
import { readIntentFiles } from '../arguments/read-sources.ts';
import { type DocumentFormat, documentFormats } from '../output/print-answer.ts';
import { planIntents } from '../propagation/plan-intents.ts';

type PlanFlags = GatewayFlags & SourceFlags & { readonly output?: DocumentFormat };

const help = `
Files hold Propagations (muster.dev/v1alpha1). Nothing is written anywhere: each
API server is asked what it would make of its copy.
Per cluster: whether it is chosen, or why not; its replicas, before and after;
its wave; what would become of its objects; which overrides change something.
Then what would change, override by override without effect, and what is wrong
with the intent. The last line is the digest of the plan:
  muster plan -f intent.yaml
  muster propagate -f intent.yaml --digest DIGEST
does exactly that, or nothing if anything has changed meanwhile.
-o json and -o yaml print the whole plan, manifests too. --context shows only
these clusters of a gateway that runs; the intent chooses as it says.

Exits with 1 if it could not be done.`;

/** Adds `muster plan`: shows what an intent would do. */
export function addPlanCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(withFiles(program.command('plan')))
    .description('show what an intent would do in each cluster, and touch nothing')
    .addOption(new Option('-o, --output <format>', 'how it is printed').choices(documentFormats))
    .addHelpText('after', help)
    .action((flags: PlanFlags) => run(flags, async (session) => planIntents(session, await readIntentFiles(session, flags), flags.output)));
}
