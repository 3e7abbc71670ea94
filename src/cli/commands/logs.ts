import { type Command as Commander, InvalidArgumentError, Option } from 'commander';
import { parseDuration, parseInstant } from '../../core/json/json-values.ts';
import {
  type GatewayFlags,
  type RunCommand,
  type SelectionFlags,
  selectionVariables,
  wholeNumberParser,
  withGatewayOptions,
  withSelection,
} from '../arguments/gateway-options.ts';
import { ClusterAnswers } from '../client/cluster-answers.ts';
import { type ClusterFault, ClusterFaultReport } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { parseExpression } from '../logs/expressions.ts';
import { followPods } from '../logs/follow-pods.ts';
import { type LogFormat, LogPrinter, logFormats, maxTailLines } from '../logs/log-lines.ts';
import { findLogPods, findLogSources, type LogWords, logBatchesOf, maxLogContainers, parseLogWords } from '../logs/log-sources.ts';
import type { LogArguments } from '../logs/missing-logs.ts';
import { printFollowedLogs } from '../logs/print-followed-logs.ts';
import { printLogs } from '../logs/print-logs.ts';

type LogsFlags = GatewayFlags &
  SelectionFlags & {
    readonly container?: string;
    readonly follow?: boolean;
    readonly previous?: boolean;
    readonly since?: number;
    readonly sinceTime?: string;
    readonly include?: readonly RegExp[];
    readonly exclude?: readonly RegExp[];
    readonly output?: LogFormat;
    readonly maxLogRequests: number;
    readonly tail?: number;
    readonly timestamps?: boolean;
  };

const help = `
Each line starts with its source: CLUSTER/NAMESPACE/POD/CONTAINER. Without -c
all containers of a Pod are read. A word with a character that no name has, such
as ^ or *, is a regular expression, found anywhere in the name of a Pod:
  muster logs deploy/web -n shop -f
  muster logs '^web-[0-9a-f]+-' --since 1d12h --include error
  muster logs -l job-name=invoice-run -f
-f also follows Pods that appear later, until it is interrupted. A lost
connection is opened again, and no line is repeated.
Exits with 1 if a named Pod or container does not exist, or a cluster of
--context had a fault; with 3 if nothing was found and a cluster did not
answer.`;

/** Adds `muster logs`: prints logs of containers in all clusters. */
export function addLogsCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(withSelection(program.command('logs')))
    .description('show or follow the logs of containers of all clusters')
    .argument('[pod...]', 'names of Pods, KIND/NAME of workloads, or regular expressions; or -l')
    // Allows any number of names.
    .allowExcessArguments(true)
    .option('-c, --container <name>', 'only containers of this name')
    .option('-f, --follow', 'follow new lines')
    .option('-p, --previous', "logs of the containers' previous run")
    .option('--since <duration>', 'only lines of the last 5m, 90s, 1d12h', parseSeconds)
    .addOption(new Option('--since-time <time>', 'only lines since this time (RFC 3339)').argParser(parseTime).conflicts('since'))
    .option(
      '--tail <lines>',
      'the last lines of each log; -1 for the maximum of 10000 (default: 200, with -f 10)',
      wholeNumberParser(-1, maxTailLines),
    )
    .option('--timestamps', 'print the time of each line')
    .option('-i, --include <expression>', 'only lines that match; may be repeated: then at least one must match', collectExpressions)
    .option('-e, --exclude <expression>', 'leave out lines that match; may be repeated', collectExpressions)
    .addOption(new Option('-o, --output <format>', 'raw: the lines alone; json: an object per line').choices(logFormats))
    .option('--max-log-requests <count>', 'with -f: the largest number of containers', wholeNumberParser(1, 1_000), 50)
    .addHelpText('after', help)
    .action((words: readonly string[], flags: LogsFlags) => {
      if (words.length === 0 && flags.selector === undefined) throw refused('expected the name of a Pod, or -l with labels of Pods');
      if (flags.follow === true && flags.previous === true)
        throw refused('expected --previous or --follow, got both: an ended run cannot be followed');
      const parsed = parseLogWords(words);
      return run(flags, (session) => showLogs(session, parsed, flags));
    });
}

async function showLogs(session: Session, words: LogWords, flags: LogsFlags): Promise<number> {
  const selection: LogArguments = {
    clusters: session.clusters,
    ...selectionVariables(flags),
    names: words.names.length === 0 ? null : words.names,
    container: flags.container ?? null,
  };
  const extent = {
    ...(flags.since === undefined ? {} : { sinceSeconds: flags.since }),
    ...(flags.sinceTime === undefined ? {} : { sinceTime: flags.sinceTime }),
    ...(flags.tail === undefined ? {} : { tailLines: flags.tail === -1 ? maxTailLines : flags.tail }),
  };
  const { include, exclude, output: format } = flags;
  const { hasColor } = session.terminal;
  const printer = new LogPrinter({ hasColor, hasTimes: flags.timestamps === true, format, include, exclude });
  const faults: ClusterFault[] = [];
  const podReport = { print: (some: readonly ClusterFault[]) => void faults.push(...some) };
  const [report, answers] = [new ClusterFaultReport(session), new ClusterAnswers()];
  const { sources, exitCode } = await findLogSources(session, words, { selection: { ...selection, names: null }, report });
  const pods = (await Promise.all(sources.map((source) => findLogPods(session, source, { report: podReport, answers })))).flat();
  const distinct = [...new Map(pods.map((pod) => [pod.id, pod])).values()];
  const containers = distinct.reduce((count, pod) => count + pod.containers, 0);
  // True if one request reads all logs. The gateway then follows new Pods itself.
  const isSimple = words.workloads.length + words.expressions.length === 0 && containers <= maxLogContainers;
  if (!isSimple) report.print(faults);
  if (flags.follow === true) {
    if (containers > flags.maxLogRequests)
      throw new CommandFailure(
        exitCodes.failed,
        `expected at most ${flags.maxLogRequests} containers to follow, got ${containers}: choose fewer, or raise --max-log-requests`,
      );
    if (isSimple) return printFollowedLogs(session, { selection, extent, printer });
    const follow = (part: LogArguments, signal: AbortSignal) =>
      printFollowedLogs({ ...session, signal }, { selection: part, extent, printer });
    await followPods(session, { sources, maxContainers: flags.maxLogRequests, follow });
    return exitCode;
  }
  const parts = isSimple ? [selection] : logBatchesOf(distinct, selection.container);
  if (sources.length === 0) return exitCode;
  if (distinct.length === 0 && !isSimple && !answers.isComplete) {
    answers.reportUnknown(session, 'containers');
    return exitCode || exitCodes.unknown;
  }
  const selected = words.names.length === 0 && !isSimple ? { ...selection, names: [] } : selection;
  const reading = { selected, parts, extent: { ...extent, previous: flags.previous === true }, printer, report };
  const code = await printLogs(session, reading);
  return Math.max(exitCode, code);
}

function collectExpressions(text: string, before: readonly RegExp[] = []): readonly RegExp[] {
  return [...before, parseExpression(text)];
}

function parseTime(text: string): string {
  if (parseInstant(text) !== undefined) return text;
  throw new InvalidArgumentError('Expected a time such as 2026-01-31T12:00:00Z.');
}

function refused(message: string): CommandFailure {
  return new CommandFailure(exitCodes.refused, message);
}

function parseSeconds(text: string): number {
  // Go's durations have no days, so they are read first.
  const [, days = '0', rest = ''] = /^(?:(\d{1,5})d)?(.*)$/s.exec(text) ?? [];
  const time = rest === '' && text !== '' ? 0n : parseDuration(rest);
  const nanoseconds = BigInt(days) * 86_400_000_000_000n + (time ?? 0n);
  const rounded = Number((nanoseconds + 999_999_999n) / 1_000_000_000n);
  if (time !== undefined && nanoseconds > 0n && rounded < 2 ** 31) return rounded;
  throw new InvalidArgumentError('Expected a length of time such as 90s, 5m or 1d12h.');
}
