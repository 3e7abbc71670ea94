import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { ParsedIntent, ParsedManifest } from '../client/manifest-reader.ts';
import type { Session } from '../client/session.ts';
import { printable } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { SourceFlags } from './gateway-options.ts';

/** The files of `-f` as one text of YAML documents. A single file is unchanged. */
interface DocumentFiles {
  readonly text: string;
  /** The number of files. Standard input counts as one. */
  readonly count: number;
}

/**
 * Reads the files of `-f` in the order of the flags. The files of a directory are sorted by name.
 *
 * @throws {CommandFailure} for the first file that cannot be read or is no YAML, with the file and the line.
 */
export async function readDocumentFiles(session: SourceReader, flags: Pick<SourceFlags, 'filename'>): Promise<DocumentFiles> {
  const sources = await sourcesOf(session, flags);
  for (const { name, text } of sources) {
    const read = await session.reader.documents(text);
    if (read.result === 'refused') throw refused([name, read.message]);
  }
  return { text: sources.map(({ text }) => text).join('\n---\n'), count: sources.length };
}

/** The parts of a session that are needed to read files. */
export type SourceReader = Pick<Session, 'terminal' | 'reader'>;

interface Source {
  /** The name in messages. */
  readonly name: string;
  readonly text: string;
}

/** The names of the files that are read from a directory. Other files are ignored, as in kubectl. */
const manifestFile = /\.(?:ya?ml|json)$/;

/**
 * Reads the objects in the files of `-f`, in the order of the flags. The files of a directory are sorted by name. Objects without a namespace get the
 * namespace of `-n`.
 *
 * @throws {CommandFailure} for the first file that cannot be read, with the file, the path and the expected value. Also if an object names another
 * namespace than `-n`.
 */
export async function readManifestFiles(session: SourceReader, flags: SourceFlags): Promise<readonly ParsedManifest[]> {
  const found: ParsedManifest[] = [];
  for (const { name, text } of await sourcesOf(session, flags)) {
    const read = await session.reader.manifests(text);
    if (read.result === 'refused') throw refused([name, read.path, read.message]);
    found.push(...read.manifests.map((manifest) => placed(manifest, { file: name, namespace: flags.namespace })));
  }
  return found;
}

/**
 * Reads the Propagations in the files, in the order of `readManifestFiles`.
 *
 * @throws {CommandFailure} with the last problem of the first invalid file. All other problems of that file are printed before.
 */
export async function readIntentFiles(session: SourceReader, flags: SourceFlags): Promise<readonly ParsedIntent[]> {
  const found: ParsedIntent[] = [];
  for (const { name, text } of await sourcesOf(session, flags)) {
    const read = await session.reader.intents(text, { namespace: flags.namespace });
    if (read.result === 'read') {
      found.push(...read.intents);
      continue;
    }
    const failures = read.problems.map(({ document, path: field, message }) => refused([name, document, field, message]));
    for (const { message } of failures.slice(0, -1)) session.terminal.err(`muster: ${printable(message)}\n`);
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

/**
 * Returns the manifest with the namespace of `-n` if the manifest names none.
 *
 * @throws {CommandFailure} if the manifest names another namespace, as kubectl refuses it too.
 */
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

/** Returns the text of a file, or of standard input for `-`. @throws {CommandFailure} with the reason if the file cannot be read. */
export function readTextFile(file: string, { readInput }: Pick<Terminal, 'readInput'>): Promise<string> {
  return file === '-' ? readInput() : readNamedFile(file);
}

/** Returns the text of a file. @throws {CommandFailure} with the reason if the file cannot be read. */
export function readNamedFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => Promise.reject(unreadable(file, error)));
}

function unreadable(file: string, error: NodeJS.ErrnoException): CommandFailure {
  const why = error.code === 'ENOENT' ? 'there is no such file' : (error.code ?? error.message);
  return new CommandFailure(exitCodes.refused, `${file} cannot be read: ${why}`, { cause: error });
}
