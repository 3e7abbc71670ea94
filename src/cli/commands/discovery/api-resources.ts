import { type Command as Commander, Option } from 'commander';
import { apiVersionOf } from '../../../core/kinds.ts';
import { nearestWord } from '../../../core/nearest-word.ts';
import { type GatewayFlags, type RunCommand, withGatewayOptions } from '../../arguments/gateway-options.ts';
import { CommandFailure, exitCodes } from '../../client/command-failure.ts';
import { fullKindName, type ResolvedKind, resolveDistinctKinds } from '../../client/resolve-kinds.ts';
import type { Session } from '../../client/session.ts';
import { createTableColumns, printable, textOfLines } from '../../output/table.ts';
import { terminalWidth } from '../../output/text-width.ts';

type ResourceFlags = GatewayFlags & {
  readonly output?: 'wide' | 'name';
  readonly apiGroup?: string;
  readonly namespaced?: 'true' | 'false';
  readonly headers: boolean;
};

/** Adds `muster api-resources` and `muster explain`. */
export function addDiscoveryCommands(program: Commander, run: RunCommand): void {
  withGatewayOptions(program.command('api-resources'))
    .description('list the kinds of all clusters, and how many clusters serve each')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['wide', 'name']))
    .option('--api-group <group>', "only kinds of this group; '' is the core group")
    .addOption(new Option('--namespaced <bool>', 'only kinds with, or without, a namespace').choices(['true', 'false']))
    .option('--no-headers', 'no header')
    .action((flags: ResourceFlags) => run(flags, (session) => showResources(session, flags)));
  withGatewayOptions(program.command('explain'))
    .description('describe a kind or one of its fields, computed ones too')
    .argument('<kind[.path]>', 'the kind and a path, such as deploy.spec.replicas')
    .option('--recursive', 'also show the fields of fields')
    .action((word: string, flags: GatewayFlags & { readonly recursive?: boolean }) =>
      run(flags, (session) => explain(session, word, flags)),
    );
}

interface ServedKind {
  readonly verbs: readonly string[];
  readonly versions: readonly string[];
  readonly kind: {
    readonly group: string;
    readonly kind: string;
    readonly plural: string;
    readonly shortNames: readonly string[];
    readonly categories: readonly string[];
    readonly namespaced: boolean;
  };
}

const servedQuery = `query ($names: [String!]) {
  clusters(names: $names) { kinds { verbs versions kind { group kind plural shortNames categories namespaced } } }
}`;

async function servedKinds({ gateway, clusters: names }: Session) {
  const { clusters } = await gateway.query<{ readonly clusters: readonly { readonly kinds: readonly ServedKind[] }[] }>(servedQuery, {
    names,
  });
  const byKind = Map.groupBy(
    clusters.flatMap(({ kinds }) => kinds),
    ({ kind }) => fullKindName(kind),
  );
  return { byKind, clusterCount: clusters.length };
}

async function showResources(session: Session, { output, apiGroup, namespaced, headers }: ResourceFlags): Promise<number> {
  const { byKind, clusterCount } = await servedKinds(session);
  const kinds = [...byKind.values()]
    .flatMap(([first, ...others]) => (first === undefined ? [] : [{ ...first, count: others.length + 1 }]))
    .filter(
      ({ kind }) =>
        (apiGroup === undefined || kind.group === apiGroup) && (namespaced === undefined || String(kind.namespaced) === namespaced),
    )
    .toSorted((a, b) => compare([a.kind.group, a.kind.plural], [b.kind.group, b.kind.plural]));
  if (output === 'name') {
    await session.terminal.out(
      textOfLines(kinds.map(({ kind }) => printable(kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`))),
    );
    return exitCodes.good;
  }
  const wide = output === 'wide';
  const header = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND', ...(wide ? ['VERBS', 'CATEGORIES'] : []), 'CLUSTERS'];
  const rows = kinds.map(({ kind, versions, verbs, count }) => [
    kind.plural,
    kind.shortNames.join(','),
    apiVersionOf({ group: kind.group, version: versions[0] ?? '' }),
    String(kind.namespaced),
    kind.kind,
    ...(wide ? [verbs.join(','), kind.categories.join(',')] : []),
    `${count}/${clusterCount}`,
  ]);
  await session.terminal.out(textOfLines(createTableColumns(header, { hasHeader: headers }).lines(rows)));
  return exitCodes.good;
}

function compare(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((text, index) => text !== b[index]);
  return at === -1 ? 0 : (a[at] ?? '') < (b[at] ?? '') ? -1 : 1;
}

interface FieldType {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType?: FieldType | null;
}

interface ExplainedField {
  readonly name: string;
  readonly description: string | null;
  readonly type: FieldType;
}

interface ExplainedType {
  readonly description: string | null;
  readonly fields: readonly ExplainedField[] | null;
}

const typeQuery = `query ($name: String!) {
  __type(name: $name) { description fields { name description type { ...T ofType { ...T ofType { ...T ofType { ...T ofType { ...T } } } } } } }
} fragment T on __Type { kind name }`;

async function explain(session: Session, word: string, { recursive = false }: { readonly recursive?: boolean }): Promise<number> {
  const { kind, path } = await kindAndPath(session, word);
  const { byKind } = await servedKinds(session);
  const version = byKind.get(fullKindName(kind))?.[0]?.versions[0] ?? '';
  let type = await typeNamed(session, kind.type);
  let field: ExplainedField | undefined;
  for (const segment of path) {
    const next = type?.fields?.find(({ name }) => name === segment);
    if (next === undefined) throw noField(segment, { word, type });
    field = next;
    type = await typeNamed(session, namedType(next.type));
  }
  const about = (field === undefined ? type : field)?.description ?? '';
  const lines = [
    `KIND:       ${kind.kind}`,
    `VERSION:    ${apiVersionOf({ group: kind.group, version })}`,
    '',
    ...(field === undefined ? [] : [`FIELD: ${field.name} <${typeText(field.type)}>`, '']),
    'DESCRIPTION:',
    ...indented(about === '' ? '<empty>' : about),
    ...(type?.fields == null ? [] : ['', 'FIELDS:', ...(await fieldLines(session, type.fields, { recursive, seen: [], indent: '  ' }))]),
  ];
  await session.terminal.out(textOfLines(lines));
  return exitCodes.good;
}

/**
 * Splits a word such as `deploy.spec` into a kind and the path of a field. The kind is the shortest beginning of the word that names a kind. It is
 * longer than the first part only if that part alone names no kind.
 *
 * @throws {CommandFailure} if no beginning of the word names a kind.
 */
async function kindAndPath(session: Session, word: string): Promise<{ readonly kind: ResolvedKind; readonly path: readonly string[] }> {
  const parts = word.split('.').filter((part) => part !== '');
  let failure: unknown = new CommandFailure(exitCodes.refused, `expected a kind, got ${word}`);
  for (let length = 1; length <= parts.length; length++) {
    try {
      const [kind] = await resolveDistinctKinds(session, [parts.slice(0, length).join('.')]);
      if (kind !== undefined) return { kind, path: parts.slice(length) };
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      if (length === 1) failure = error;
    }
  }
  throw failure;
}

function noField(segment: string, { word, type }: { readonly word: string; readonly type: ExplainedType | undefined }): CommandFailure {
  const names = type?.fields?.map(({ name }) => name) ?? [];
  const near = nearestWord(segment, names);
  const hint =
    names.length === 0
      ? 'it has no fields'
      : near === undefined
        ? `expected one of ${names.slice(0, 20).join(', ')}`
        : `did you mean ${near}?`;
  return new CommandFailure(exitCodes.refused, `no field ${segment} in ${word}: ${hint}`);
}

async function typeNamed({ gateway }: Session, name: string): Promise<ExplainedType | undefined> {
  const { __type } = await gateway.query<{ readonly __type: ExplainedType | null }>(typeQuery, { name });
  return __type ?? undefined;
}

interface FieldLayout {
  readonly recursive: boolean;
  /** The types that contain these fields, from the outermost on. Their fields are not listed again inside. */
  readonly seen: readonly string[];
  readonly indent: string;
}

/** The largest depth of `--recursive`. */
const maxDepth = 6;

async function fieldLines(
  session: Session,
  fields: readonly ExplainedField[],
  { recursive, seen, indent }: FieldLayout,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { name, description, type } of fields) {
    lines.push(`${indent}${name}\t<${typeText(type)}>`);
    if (!recursive) lines.push(...indented(description ?? '').map((line) => `  ${line}`), '');
    const below = namedType(type);
    // Some types are never opened: they lead to other objects or pages of them, and so to the whole schema.
    const isOpened =
      recursive && seen.length < maxDepth && !seen.includes(below) && !/^(?:Cluster|Kind|Sync|Resource|.*Connection)$/.test(below);
    const inner = isOpened ? await typeNamed(session, below) : undefined;
    if (inner?.fields != null)
      lines.push(...(await fieldLines(session, inner.fields, { recursive, seen: [...seen, below], indent: `${indent}  ` })));
  }
  return lines;
}

function indented(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => wrapped(printable(line)).map((part) => `    ${part}`.trimEnd()));
}

/** Maximum width of a line of a description, without its indentation. The same as in kubectl. */
const maxLineWidth = 76;

/** Splits a line at spaces. A word that is longer than a line stays whole. */
function wrapped(line: string): readonly string[] {
  const lines = [''];
  for (const word of line.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && terminalWidth(`${last} ${word}`) > maxLineWidth) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

function namedType(type: FieldType): string {
  return type.ofType == null ? (type.name ?? '') : namedType(type.ofType);
}

function typeText({ kind, name, ofType }: FieldType): string {
  const inner = ofType == null ? (name ?? '') : typeText(ofType);
  return kind === 'LIST' ? `[${inner}]` : kind === 'NON_NULL' ? `${inner}!` : inner;
}
