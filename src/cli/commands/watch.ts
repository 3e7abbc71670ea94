import { type Command as Commander, Option } from 'commander';
import {
  type GatewayFlags,
  parseKinds,
  type RunCommand,
  type SelectionFlags,
  selectionVariables,
  withGatewayOptions,
  withSelection,
} from '../arguments/gateway-options.ts';
import { type ListOutput, listFormats, parseListOutput } from '../arguments/list-output.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { resolveKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { type UntilChoice, untilChoices } from '../watches/job-ends.ts';
import { watchJobs } from '../watches/watch-jobs.ts';
import { watchObjects } from '../watches/watch-objects.ts';

type WatchFlags = GatewayFlags & SelectionFlags & { readonly output?: string; readonly until?: UntilChoice };

const help = `
Prints a line per change, as muster get -w --output-watch-events: first the
existing objects (ADDED), then each change, until it is interrupted. A lost
connection is opened again and resumes where it was. -o takes the formats of
muster list and prints a document per change; -o json prints a line with type
and object.
watch jobs shows the live status of Jobs: on a terminal a table that is redrawn
in place, with counts by phase and cluster; elsewhere a line per change. Its
only format is -o json, the messages of the stream.
  --until any  exits with 0 once one of the Jobs is complete, with 1 once all
               have failed
  --until all  exits with 0 once each of the Jobs is complete, with 1 once one
               has failed
Only Jobs that match at that moment count. It waits while there are none. A
decision that needs all Jobs waits until every cluster is in sync, so leave out
clusters that are down with --context.
  muster watch jobs -l batch=nightly --until all`;

/** Adds `muster watch`: prints changes of objects in all clusters. */
export function addWatchCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(withSelection(program.command('watch')))
    .description('watch changes of objects in all clusters; Jobs as a live table')
    .argument('<kind[,kind]>', 'the kinds to watch', parseKinds)
    .option('-o, --output <format>', `output format: ${listFormats.join(', ')}; for jobs only json`)
    .addOption(new Option('--until <which>', 'jobs only: end once any or all of them are complete').choices(untilChoices))
    .addHelpText('after', help)
    .action(async (kinds: readonly string[], flags: WatchFlags) => {
      const output = await parseListOutput(flags.output);
      return run(flags, (session) => watch(session, kinds, { ...flags, output }));
    });
}

type ParsedFlags = Omit<WatchFlags, 'output'> & { readonly output: ListOutput };

async function watch(session: Session, kinds: readonly string[], { output, until, ...flags }: ParsedFlags): Promise<number> {
  const selection = { clusters: session.clusters, ...selectionVariables(flags) };
  if (await areJobs(session, kinds)) {
    const isTable = output.type === 'table' && !output.isWide;
    if (!isTable && output.type !== 'json') throw new CommandFailure(exitCodes.refused, 'expected -o json or no -o with jobs');
    return watchJobs(session, { selection, output: isTable ? undefined : 'json', until });
  }
  if (until !== undefined) throw new CommandFailure(exitCodes.refused, `expected --until with jobs, got it with ${kinds.join(',')}`);
  const table = { hasHeaders: true, showsLabels: false, labelColumns: [] };
  return watchObjects(session, { kinds, selection, output, table, hasEvents: true, showsExisting: true, allowsMissingKeys: true });
}

/** True if the names mean Jobs only. @throws {CommandFailure} if a name means no kind. */
async function areJobs(session: Session, kinds: readonly string[]): Promise<boolean> {
  const resolved = new Set((await resolveKinds(session, kinds)).map(({ kind }) => `${kind.kind}.${kind.group}`));
  // If no cluster is known to serve the kind, only the names `job` and `jobs` mean Jobs.
  return resolved.size === 0 ? kinds.length === 1 && /^jobs?$/i.test(kinds[0] ?? '') : resolved.size === 1 && resolved.has('Job.batch');
}
