import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { ParsedIntent, ParsedManifest } from '../client/manifest-reader.ts';
import type { Session } from '../client/session.ts';
import { printable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { SourceFlags } from './gateway-options.ts';

/** What is read with: parts of a session. */
export type SourceReader = Pick<Session, 'terminal' | 'reader'>;

interface Source {
  /** As it is told to people. */
  readonly name: string;
  readonly text: string;
}

/** As kubectl: what else lies in a directory is not meant. */
const manifestFile = /\.(?:ya?ml|json)$/;

/**
 * The objects in the files, in their order, those of a directory by name; each in the namespace that was named.
 *
 * @throws {CommandFailure} for the first that cannot be read: in which file, at which path, what was expected.
 */
export async function readManifestFiles(by: SourceReader, flags: SourceFlags): Promise<readonly ParsedManifest[]> {
  const found: ParsedManifest[] = [];
  for (const { name, text } of await sourcesOf(by, flags)) {
    const read = await by.reader.manifests(text);
    if (read.result === 'refused') throw refused([name, read.path, read.message]);
    found.push(...read.manifests.map((manifest) => placed(manifest, { file: name, namespace: flags.namespace })));
  }
  return found;
}

/**
 * The intents in the files, as `readManifestFiles` reads them.
 *
 * @throws {CommandFailure} with all that is wrong with the first file that cannot be read: a line for each but the last is told before.
 */
export async function readIntentFiles(by: SourceReader, flags: SourceFlags): Promise<readonly ParsedIntent[]> {
  const found: ParsedIntent[] = [];
  for (const { name, text } of await sourcesOf(by, flags)) {
    const read = await by.reader.intents(text, { namespace: flags.namespace });
    if (read.result === 'read') {
      found.push(...read.intents);
      continue;
    }
    const failures = read.problems.map(({ document, path: field, message }) => refused([name, document, field, message]));
    for (const { message } of failures.slice(0, -1)) by.terminal.err(`muster: ${printable(message)}\n`);
    throw failures.at(-1) ?? refused([name, 'expected a Propagation']);
  }
  return found;
}

async function sourcesOf({ terminal }: SourceReader, { filename = [] }: SourceFlags): Promise<readonly Source[]> {
  const files = (await Promise.all(filename.map(filesOf))).flat();
  const sources: Source[] = [];
  for (const file of files) sources.push({ name: file === '-' ? 'standard input' : file, text: await readTextFile(file, terminal) });
  return sources;
}

async function filesOf(name: string): Promise<readonly string[]> {
  if (name === '-') return [name];
  const found = await stat(name).catch((error: NodeJS.ErrnoException) => Promise.reject(unreadable(name, error)));
  if (!found.isDirectory()) return [name];
  const files = (await readdir(name)).filter((file) => manifestFile.test(file)).sort();
  if (files.length === 0) throw refused([name, 'expected files that end in .yaml, .yml or .json, got none']);
  return files.map((file) => path.join(name, file));
}

/** As kubectl: one that stands elsewhere is refused. */
function placed(
  manifest: ParsedManifest,
  { file, namespace }: { readonly file: string; readonly namespace: string | undefined },
): ParsedManifest {
  const { metadata, kind } = manifest;
  if (namespace === undefined) return manifest;
  if (metadata.namespace !== undefined && metadata.namespace !== namespace)
    throw refused([file, `${kind} ${metadata.name}`, `expected the namespace ${namespace} of -n, or none, got ${metadata.namespace}`]);
  return { ...manifest, metadata: { ...metadata, namespace } };
}

function refused(parts: readonly string[]): CommandFailure {
  return new CommandFailure(exitCodes.refused, parts.filter((part) => part !== '').join(': '));
}

/**
 * What stands in the file; in standard input for `-`.
 *
 * @throws {CommandFailure} if it cannot be read: why.
 */
export function readTextFile(file: string, { readInput }: Pick<Terminal, 'readInput'>): Promise<string> {
  return file === '-'
    ? readInput()
    : readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => Promise.reject(unreadable(file, error)));
}

/** Why it cannot be read, as the end of a command. */
function unreadable(file: string, error: NodeJS.ErrnoException): CommandFailure {
  const why = error.code === 'ENOENT' ? 'there is no such file' : (error.code ?? error.message);
  return new CommandFailure(exitCodes.refused, `${file} cannot be read: ${why}`, { cause: error });
}
