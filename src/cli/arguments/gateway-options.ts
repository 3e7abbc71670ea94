import { type Command as Commander, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../core/json/json-values.ts';
import type { Command } from '../client/session.ts';
import type { Terminal } from '../output/terminal.ts';
import { type FieldCondition, parseFieldConditions } from './field-selector.ts';

/** The flags that choose or configure the gateway. */
export interface GatewayFlags {
  readonly context?: readonly string[];
  readonly hub?: string;
  readonly gateway?: string;
  readonly tokenFile?: string;
  readonly kubeconfig?: string;
  readonly demo?: boolean;
  readonly config?: string;
}

/** Describes how a command affects the clusters. */
export interface CommandEffect {
  /**
   * True if the command writes to clusters. If only the command's input can tell, a function decides before a gateway is started. Default:
   * false.
   */
  readonly writes?: boolean | ((terminal: Terminal) => Promise<boolean>);
}

/** Runs a command with the gateway that the flags choose. */
export type RunCommand = (flags: GatewayFlags, command: Command, effect?: CommandEffect) => Promise<void>;

/** Adds the options of every command that uses a gateway. */
export function withGatewayOptions(command: Commander): Commander {
  const add = (flags: string, description: string) => new Option(flags, description).helpGroup('Gateway:');
  return command
    .allowExcessArguments(false)
    .addOption(add('--context <name>', 'only this cluster; may be repeated (default: every cluster)').argParser(collectValues))
    .addOption(add('--gateway <url>', 'use this gateway (default: MUSTER_GATEWAY; else the command starts its own)'))
    .addOption(add('--token-file <file>', 'with --gateway: a file with its bearer token'))
    .addOption(add('--kubeconfig <file>', 'own gateway: use this kubeconfig (default: as serve)').conflicts('gateway'))
    .addOption(add('--hub <context>', 'own gateway: use this cluster as the hub').conflicts('gateway'))
    .addOption(add('--demo', 'own gateway: use an embedded fleet of three simulated clusters').conflicts('gateway'))
    .addOption(add('--config <file>', 'own gateway: use this config file (YAML)').conflicts('gateway'));
}

/** The options that select objects. */
export interface SelectionFlags {
  readonly namespace?: readonly string[];
  readonly selector?: string;
}

/** Adds `-n`, `-A` and `-l`. */
export function withSelection(command: Commander): Commander {
  return withNamespaces(command).option('-l, --selector <labels>', 'only objects with these labels, such as app=web,tier!=back');
}

/** Adds `-n` and `-A`, for commands whose default is all namespaces. */
export function withNamespaces(command: Commander): Commander {
  return command
    .option('-n, --namespace <name>', 'only this namespace; may be repeated (default: all)', collectValues)
    .addOption(new Option('-A, --all-namespaces', 'all namespaces, as without -n').conflicts('namespace'));
}

/** Adds `--field-selector`. */
export function withFieldSelector(command: Commander): Commander {
  return command.option(
    '--field-selector <fields>',
    "only objects with these fields, such as status.phase=Running,spec.nodeName!=''",
    fieldConditions,
  );
}

function fieldConditions(text: string, before: readonly FieldCondition[] = []): readonly FieldCondition[] {
  return [...before, ...parseFieldConditions(text)];
}

/** Returns the GraphQL variables for these flags. */
export function selectionVariables({ namespace, selector }: SelectionFlags): {
  readonly namespaces: readonly string[] | null;
  readonly labels: string | null;
} {
  return { namespaces: namespace ?? null, labels: selector ?? null };
}

/** The options of commands that read files. */
export interface SourceFlags {
  /** Files, directories, or `-` for standard input. Default: none. */
  readonly filename?: readonly string[];
  readonly namespace?: string;
}

/** Adds a mandatory `-f`, and `-n`. */
export function withFiles(command: Commander): Commander {
  return withSources(command, { mandatory: true });
}

/** Adds an optional `-f`, and `-n`, for commands that also take names. */
export function withSources(command: Commander, { mandatory = false } = {}): Commander {
  const description = 'a file, a directory of files, or - for standard input; YAML or JSON; may be repeated';
  return command
    .addOption(new Option('-f, --filename <file>', description).argParser(collectValues).makeOptionMandatory(mandatory))
    .option('-n, --namespace <name>', 'the namespace (default: that of the file, else default)');
}

/** Adds `-n`, for commands that use exactly one namespace. */
export function withNamespace(command: Commander): Commander {
  return command.option('-n, --namespace <name>', 'the namespace (default: default)');
}

/** Appends a value of an option that may be repeated. */
export function collectValues(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Returns a parser for an option whose value is a whole number from `min` to `max`. */
export function wholeNumberParser(min: number, max: number): (value: string) => number {
  return (value) => {
    if (/^-?\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** Parses the kinds of the command line, such as `pods,deploy`. */
export function parseKinds(text: string): readonly string[] {
  const kinds = text.split(',').map((kind) => kind.trim());
  if (kinds.every((kind) => kind !== '')) return kinds;
  throw new InvalidArgumentError('Expected names of kinds with commas between them.');
}

/** Parses a length of time for `--timeout`, such as `30s`. Returns milliseconds. */
export function parseTimeoutMs(text: string): number {
  const nanoseconds = parseDuration(text);
  if (nanoseconds === undefined || nanoseconds < 0n || nanoseconds > 10n ** 15n)
    throw new InvalidArgumentError('Expected a length of time such as 30s or 5m.');
  return Number(nanoseconds / 1_000_000n);
}
