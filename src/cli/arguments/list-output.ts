import { MusterError } from '../../core/errors.ts';
import { parseJsonPathTemplate } from '../../core/jsonpath/parse-template.ts';
import type { TemplateNode } from '../../core/jsonpath/template-nodes.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { readNamedFile } from './read-sources.ts';

/** A column of `-o custom-columns`. */
export interface TemplateColumn {
  readonly header: string;
  readonly template: readonly TemplateNode[];
}

/** The output format of a list. */
export type ListOutput =
  | { readonly type: 'table'; readonly isWide: boolean }
  | { readonly type: 'json' | 'yaml' | 'name' }
  | { readonly type: 'jsonpath'; readonly template: readonly TemplateNode[] }
  | { readonly type: 'custom-columns'; readonly columns: readonly TemplateColumn[] };

/** The formats of `-o`, as help and errors name them. */
export const listFormats = [
  'wide',
  'json',
  'yaml',
  'name',
  'jsonpath=',
  'jsonpath-file=',
  'custom-columns=',
  'custom-columns-file=',
] as const;

/**
 * Parses the value of `-o`. Reads the file of `jsonpath-file` and `custom-columns-file`. A table if there is no value.
 *
 * @throws {CommandFailure} if the format, the template or a path is invalid, or the file cannot be read.
 */
export async function parseListOutput(text: string | undefined): Promise<ListOutput> {
  if (text === undefined || text === 'wide') return { type: 'table', isWide: text === 'wide' };
  if (text === 'json' || text === 'yaml' || text === 'name') return { type: text };
  const [, format, value] = /^([a-z-]+)=(.*)$/s.exec(text) ?? [];
  if (format === undefined || value === undefined || !listFormats.some((one) => one === `${format}=`))
    throw refused(`expected -o with one of ${listFormats.join(', ')}, got ${text}`);
  if (value === '') throw refused(`expected a template or a file after ${text}`);
  const template = format.endsWith('-file') ? await readNamedFile(value) : value;
  try {
    if (format.startsWith('jsonpath')) return { type: 'jsonpath', template: parseJsonPathTemplate(template) };
    const pairs = format.endsWith('-file') ? pairsOfFile(template) : template.split(',').map(pairOf);
    return { type: 'custom-columns', columns: pairs.map(columnOf) };
  } catch (error) {
    if (error instanceof MusterError) throw refused(error.message);
    throw error;
  }
}

type ColumnText = readonly [header: string, path: string];

function pairOf(text: string): ColumnText {
  const [, header, path] = /^([^:]*):(.+)$/s.exec(text) ?? [];
  if (header === undefined || path === undefined) throw refused(`expected HEADER:PATH in custom-columns, got ${text}`);
  return [header, path];
}

/** Reads a file with a line of headers and a line of paths. */
function pairsOfFile(text: string): readonly ColumnText[] {
  const [headers = [], paths = []] = text.split('\n').map((line) => line.trim().split(/\s+/));
  if (headers.length !== paths.length || paths.includes(''))
    throw refused(`expected a line of headers and a line with as many paths, got ${headers.length} and ${paths.length}`);
  return headers.map((header, at) => [header, paths[at] ?? '']);
}

function columnOf([header, path]: ColumnText): TemplateColumn {
  const [, braced, bare] = /^(?:\{\.?([^{}]+)\}|\.?([^{}]+))$/.exec(path) ?? [];
  const inside = braced ?? bare;
  if (inside === undefined) throw refused(`expected a path such as .metadata.name or {.metadata.name}, got ${path}`);
  return { header, template: parseJsonPathTemplate(`{.${inside}}`) };
}

function refused(message: string): CommandFailure {
  return new CommandFailure(exitCodes.refused, message);
}
