import type { Command as Commander, Option } from 'commander';
import type { JsonObject } from '../../core/json.ts';
import { listFormats } from '../arguments/list-output.ts';

/** One candidate for the word at the cursor. */
export interface Candidate {
  readonly word: string;
  readonly description?: string | undefined;
}

/** The candidates to print, and whether the word may also be a file. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly takesFiles: boolean;
}

/** Sends a query to the gateway. Undefined if no gateway is named, or it does not answer. */
export type CompletionQuery = (query: string, variables: JsonObject) => Promise<JsonObject | undefined>;

/** The command line before the cursor. */
interface TypedLine {
  readonly command: Commander | undefined;
  /** The words that are neither flags nor values of flags. */
  readonly words: readonly string[];
  /** The values of flags by their long names. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** The flag whose value is at the cursor. */
  readonly open: Option | undefined;
}

/** Flags whose values are files. */
const fileFlags = new Set(['--filename', '--kubeconfig', '--config', '--token-file', '--patch-file', '--vars']);

/** The commands whose first word is a kind and whose further words are names of its objects. */
const objectCommands = new Set([
  'list',
  'describe',
  'tree',
  'watch',
  'delete',
  'scale',
  'restart',
  'label',
  'annotate',
  'patch',
  'wait',
  'explain',
]);

/** Maximum number of names of objects in one answer. */
const maxNames = 500;

/**
 * Returns the candidates for the last word.
 *
 * @param words The words after `muster`. The last one is at the cursor, and may be empty.
 */
export async function findCompletion(program: Commander, words: readonly string[], query: CompletionQuery): Promise<Completion> {
  const last = words.at(-1) ?? '';
  const typed = typedOf(program, words.slice(0, -1));
  if (typed.open !== undefined)
    return { candidates: starting(await valuesOf(typed.open, typed.words, query), last), takesFiles: fileFlags.has(typed.open.long ?? '') };
  const { command } = typed;
  if (last.startsWith('-'))
    return { candidates: starting((command ?? program).options.filter(({ hidden }) => !hidden).flatMap(flagsOf), last), takesFiles: false };
  if (command === undefined) return { candidates: starting(program.commands.flatMap(commandsOf), last), takesFiles: false };
  const choices = command.registeredArguments[Math.min(typed.words.length, command.registeredArguments.length - 1)]?.argChoices;
  if (choices !== undefined)
    return {
      candidates: starting(
        choices.map((word) => ({ word })),
        last,
      ),
      takesFiles: false,
    };
  return { candidates: await objectsOf(typed, last, query), takesFiles: command.name() === 'query' };
}

function typedOf(program: Commander, words: readonly string[]): TypedLine {
  const at = words.findIndex((word) => commandNamed(program, word) !== undefined);
  const command = commandNamed(program, words[at] ?? '');
  const options = [...(command?.options ?? []), ...program.commands.flatMap((one) => (command === undefined ? one.options : []))];
  const rest = words.filter((_, index) => index !== at);
  const values = new Map<string, string[]>();
  const plain: string[] = [];
  let open: Option | undefined;
  for (const word of rest) {
    if (open !== undefined) {
      values.set(open.long ?? '', [...(values.get(open.long ?? '') ?? []), word]);
      open = undefined;
      continue;
    }
    const [flag = '', value] = word.split(/=(.*)/s);
    const option = word.startsWith('-') ? options.find(({ long, short }) => long === flag || short === flag) : undefined;
    if (option?.required === true && value === undefined) open = option;
    else if (option !== undefined) values.set(option.long ?? '', [...(values.get(option.long ?? '') ?? []), value ?? '']);
    else if (!word.startsWith('-')) plain.push(word);
  }
  return { command, words: plain, values, open };
}

function commandNamed(program: Commander, word: string): Commander | undefined {
  return program.commands.find((command) => command.name() === word || command.aliases().includes(word));
}

function commandsOf(command: Commander): readonly Candidate[] {
  if (command.name().startsWith('__')) return [];
  return [command.name(), ...command.aliases()].map((word) => ({ word, description: command.description() }));
}

function flagsOf({ long, short, description }: Option): readonly Candidate[] {
  return [long, short].flatMap((word) => (word === undefined || word === null ? [] : [{ word, description }]));
}

async function valuesOf(option: Option, words: readonly string[], query: CompletionQuery): Promise<readonly Candidate[]> {
  if (option.argChoices !== undefined) return option.argChoices.map((word) => ({ word }));
  switch (option.long) {
    case '--output':
      return listFormats.map((word) => ({ word }));
    case '--context':
    case '--hub':
      return wordsOf(await query('{ clusters { name } }', {}), 'clusters', ({ name }) => name);
    case '--namespace': {
      const answer = await query(`{ namespaces(first: ${maxNames}, waitSeconds: 0) { items { metadata { name } } } }`, {});
      return itemNames(answer?.namespaces as JsonObject | undefined);
    }
    case '--where':
    case '--sort-by':
      return pathsOf(words[0], query);
    default:
      return [];
  }
}

/** Paths of every kind. */
const commonPaths: readonly Candidate[] = [
  { word: 'metadata.name' },
  { word: 'metadata.namespace' },
  { word: 'metadata.creationTimestamp' },
  { word: 'cluster.name' },
  { word: 'cluster.region' },
];

/** Returns the computed fields of a kind, and paths of every kind. The other fields of a kind are too many to choose from. */
async function pathsOf(word: string | undefined, query: CompletionQuery): Promise<readonly Candidate[]> {
  const [name = ''] = (word ?? '').toLowerCase().split(/[,/]/);
  const answer = await query('{ kinds { kind plural group shortNames columns { name description } } }', {});
  const kinds = (answer?.kinds ?? []) as unknown as readonly NamedKind[];
  const found = kinds.find(({ kind, plural, group, shortNames }) =>
    [plural, kind.toLowerCase(), `${plural}.${group}`, ...shortNames].includes(name),
  );
  const columns = (found?.columns ?? []).map((column) => ({ word: column.name, description: column.description.split('\n')[0] }));
  return [...columns, ...commonPaths];
}

interface NamedKind {
  readonly kind: string;
  readonly plural: string;
  readonly group: string;
  readonly shortNames: readonly string[];
  readonly columns: readonly { readonly name: string; readonly description: string }[];
}

async function objectsOf({ command, words, values }: TypedLine, last: string, query: CompletionQuery): Promise<readonly Candidate[]> {
  const name = command?.name() ?? '';
  const slash = last.indexOf('/');
  const place = { namespaces: values.get('--namespace') ?? null, clusters: values.get('--context') ?? null };
  const takesSlash = objectCommands.has(name) || name === 'logs' || name === 'rollout';
  if (slash > 0 && takesSlash) {
    const kind = last.slice(0, slash);
    const found = await namesOf(query, { kind, ...place, start: last.slice(slash + 1) });
    return found.map(({ word }) => ({ word: `${kind}/${word}` }));
  }
  if (name === 'logs') return namesOf(query, { kind: 'Pod.core', ...place, start: last });
  if (name === 'rollout') return namesOf(query, { kind: 'Propagation.muster.dev', ...place, start: last });
  if (!objectCommands.has(name)) return [];
  const [kind, ...named] = words;
  if (kind !== undefined) return (await namesOf(query, { kind, ...place, start: last })).filter(({ word }) => !named.includes(word));
  const comma = last.lastIndexOf(',') + 1;
  const kinds = starting(await kindsOf(query), last.slice(comma));
  return kinds.map(({ word, description }) => ({ word: `${last.slice(0, comma)}${word}`, description }));
}

async function kindsOf(query: CompletionQuery): Promise<readonly Candidate[]> {
  const answer = await query('{ kinds { plural group } }', {});
  const kinds = (answer?.kinds ?? []) as unknown as readonly { readonly plural: string; readonly group: string }[];
  const counts = Map.groupBy(kinds, ({ plural }) => plural);
  return kinds.map(({ plural, group }) => ({
    word: counts.get(plural)?.length === 1 || group === '' ? plural : `${plural}.${group}`,
    description: group === '' ? 'v1' : group,
  }));
}

interface NamesWanted {
  readonly kind: string;
  readonly namespaces: readonly string[] | null;
  readonly clusters: readonly string[] | null;
  readonly start: string;
}

async function namesOf(query: CompletionQuery, { kind, start, ...place }: NamesWanted): Promise<readonly Candidate[]> {
  const text = `query ($kinds: [String!], $clusters: [String!], $namespaces: [String!], $where: Where) {
    resources(kinds: $kinds, clusters: $clusters, namespaces: $namespaces, where: $where, first: ${maxNames}, waitSeconds: 1) { items { metadata { name } } }
  }`;
  const where = start === '' ? null : { path: 'metadata.name', startsWith: start };
  const answer = await query(text, { kinds: kind.split(','), ...place, where });
  return starting(itemNames(answer?.resources as JsonObject | undefined), start);
}

function itemNames(connection: JsonObject | undefined): readonly Candidate[] {
  return wordsOf(connection, 'items', ({ metadata }) => (metadata as JsonObject | undefined)?.name);
}

function wordsOf(answer: JsonObject | undefined, field: string, wordOf: (item: JsonObject) => unknown): readonly Candidate[] {
  const items = (answer?.[field] ?? []) as readonly JsonObject[];
  return [...new Set(items.map(wordOf))].flatMap((word) => (typeof word === 'string' ? [{ word }] : []));
}

function starting(candidates: readonly Candidate[], start: string): readonly Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(start));
}
