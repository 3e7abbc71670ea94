import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/**
 * The folders that each folder of `src` may import, besides itself and `core`. A folder that has no row fails the test.
 *
 * The folder `streams` has a row for each part, as graph is between them: it builds on messages, and sending builds on graph.
 * The folder `propagate` has a row for each part too: its api does not import the controller, and plan does not import apply.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: [],
  model: [],
  store: ['model'],
  cluster: [],
  fleet: ['cluster'],
  inventories: ['config', 'cluster', 'store', 'fleet', 'watch'],
  registration: [
    'cluster',
    'access',
    'audit',
    'store',
    'fleet',
    'watch',
    'manifests',
    'changes',
    'propagate/model',
    'propagate/hub',
    'propagate/controller',
  ],
  watch: ['cluster', 'store'],
  access: ['cluster', 'store'],
  audit: ['access'],
  identity: ['config', 'access', 'cluster'],
  execution: [],
  streams: [],
  load: ['cluster', 'fleet', 'watch', 'store', 'access', 'audit', 'model', 'streams'],
  'streams/messages': ['streams', 'load', 'model'],
  'streams/readers': ['streams', 'streams/messages', 'load', 'access'],
  'streams/views': ['streams', 'streams/messages', 'streams/readers', 'load', 'fleet', 'watch', 'store', 'access', 'model'],
  manifests: ['store', 'model'],
  changes: ['cluster', 'access', 'audit', 'store', 'manifests'],
  propagate: [],
  'propagate/model': ['manifests', 'changes'],
  'propagate/hub': ['cluster', 'store', 'manifests', 'changes', 'propagate/model'],
  'propagate/plan': ['cluster', 'store', 'manifests', 'changes', 'propagate/model', 'propagate/hub', 'propagate/kubefed'],
  'propagate/karmada': ['manifests', 'changes', 'propagate/model', 'propagate/plan'],
  'propagate/kubefed': ['manifests', 'changes', 'propagate/model'],
  'propagate/apply': ['manifests', 'changes', 'propagate/model', 'propagate/plan'],
  'propagate/rollout': ['model', 'propagate/model', 'propagate/plan'],
  'propagate/status': ['model', 'store', 'manifests', 'changes', 'propagate/model', 'propagate/plan', 'propagate/rollout'],
  'propagate/controller': [
    'cluster',
    'store',
    'manifests',
    'changes',
    'propagate/model',
    'propagate/hub',
    'propagate/plan',
    'propagate/apply',
    'propagate/rollout',
    'propagate/status',
  ],
  'propagate/api': [
    'access',
    'audit',
    'store',
    'manifests',
    'changes',
    'propagate/model',
    'propagate/hub',
    'propagate/plan',
    'propagate/rollout',
    'propagate/status',
  ],
  migrate: [],
  'migrate/backups': ['config', 'cluster', 'store', 'manifests', 'changes', 'propagate/plan', 'migrate/model', 'migrate/discover'],
  'migrate/traffic': ['config', 'manifests', 'migrate/model'],
  'migrate/model': ['manifests', 'changes', 'propagate/model'],
  'migrate/discover': ['store', 'manifests', 'changes', 'propagate/model', 'propagate/plan', 'migrate/model'],
  'migrate/room': ['changes', 'propagate/plan', 'migrate/model'],
  'migrate/plan': [
    'store',
    'manifests',
    'changes',
    'propagate/model',
    'propagate/hub',
    'propagate/plan',
    'migrate/model',
    'migrate/discover',
    'migrate/hub',
    'migrate/room',
  ],
  'migrate/api': [
    'access',
    'audit',
    'store',
    'manifests',
    'changes',
    'propagate/model',
    'propagate/hub',
    'propagate/plan',
    'propagate/api',
    'migrate/model',
    'migrate/hub',
    'migrate/plan',
  ],
  'migrate/hub': ['store', 'manifests', 'changes', 'propagate/model', 'propagate/hub', 'migrate/model'],
  'migrate/steps': [
    'config',
    'model',
    'store',
    'manifests',
    'changes',
    'propagate/model',
    'propagate/hub',
    'propagate/plan',
    'propagate/apply',
    'propagate/rollout',
    'propagate/controller',
    'migrate/model',
    'migrate/discover',
    'migrate/hub',
    'migrate/plan',
    'migrate/traffic',
  ],
  traces: ['config', 'cluster', 'model', 'operations'],
  importers: ['cluster', 'access', 'manifests', 'changes', 'propagate/model', 'propagate/karmada', 'propagate/kubefed', 'propagate/plan'],
  'importers/upkeep': [
    'access',
    'store',
    'manifests',
    'changes',
    'importers',
    'propagate/model',
    'propagate/hub',
    'propagate/controller',
    'propagate/api',
    'propagate/plan',
  ],
  graph: [
    'access',
    'execution',
    'importers',
    'load',
    'streams',
    'streams/messages',
    'manifests',
    'changes',
    'propagate/model',
    'migrate/model',
    'model',
  ],
  operations: ['streams', 'access', 'load', 'execution', 'graph'],
  'streams/sending': ['streams', 'access', 'execution', 'graph', 'operations'],
  serve: ['config', 'access', 'audit', 'identity', 'execution', 'operations', 'streams', 'streams/sending'],
  sim: ['config', 'model'],
  cli: ['config'],
  console: ['model', 'propagate/model'],
};

/** Packages and the only folders that may import them by value. The client and server halves of a library have separate rows. */
const soleUsers: readonly { readonly names: RegExp; readonly users: readonly string[] }[] = [
  { names: /^@kubernetes\/client-node/, users: ['cluster'] },
  { names: /^undici/, users: ['cluster'] },
  { names: /^node:http2$/, users: ['cluster', 'sim'] },
  { names: /^dataloader$/, users: ['load', 'access'] },
  { names: /^@pothos\//, users: ['graph'] },
  { names: /^(graphql-yoga|@graphql-yoga\/.*)$/, users: ['operations', 'serve'] },
  { names: /^(ws|graphql-ws|graphql-ws\/use\/.*|prom-client)$/, users: ['serve'] },
  { names: /^graphql-ws\/client$/, users: ['cli', 'console'] },
  { names: /^(preact|@preact\/.*)$/, users: ['console'] },
  { names: /^node:https?$/, users: ['serve', 'identity', 'cluster', 'sim', 'migrate'] },
  { names: /^commander$/, users: ['cli'] },
  { names: /^jose$/, users: ['identity'] },
];

/** Only these files may import every folder: `main.ts` knows the process, the others wire the stages. */
const roots = ['gateway.ts', 'readiness.ts', 'write-side.ts', 'open-clusters.ts', 'open-fleet.ts', 'caller-side.ts', 'main.ts'];

interface Import {
  readonly file: string;
  readonly folder: string;
  readonly target: string;
  readonly byValue: boolean;
}

const source = path.resolve('src');
const files = filesBelow(source).filter((file) => /\.tsx?$/.test(file));
const imports = files.flatMap(importsOf);

test('every folder of src is in the table', () => {
  const folders = readdirSync(source).filter((entry) => statSync(path.join(source, entry)).isDirectory());
  expect(folders.filter((folder) => !(folder in mayImport))).toEqual([]);
  const loose = readdirSync(source).filter((entry) => statSync(path.join(source, entry)).isFile());
  expect(loose.filter((file) => !roots.includes(file))).toEqual([]);
});

test('a folder imports itself, core and the folders of its row', () => {
  const wrong = imports
    .filter(({ target, folder }) => target.startsWith('.') && folder !== '')
    .map((found) => ({ ...found, from: roomOf(found.file), to: roomOf(path.join(path.dirname(found.file), found.target)) }))
    .filter(({ from, to }) => to !== from && to !== 'core' && !(mayImport[from] ?? []).includes(to))
    .map(({ file, target }) => `${file} imports ${target}`);
  expect(wrong).toEqual([]);
});

test('a library has the users its row names', () => {
  const wrong = imports
    .filter(({ byValue, folder }) => byValue && folder !== '')
    .filter(({ target, folder }) => soleUsers.some(({ names, users }) => names.test(target) && !users.includes(folder)))
    .map(({ file, target }) => `${file} imports ${target}`);
  expect(wrong).toEqual([]);
});

test('core, model and store have neither network nor process beneath them', () => {
  const wrong = imports
    .filter(({ folder, byValue }) => byValue && ['core', 'model', 'store'].includes(folder))
    .filter(({ target }) => /^node:(?!buffer$|crypto$)/.test(target))
    .map(({ file, target }) => `${file} imports ${target}`);
  expect(wrong).toEqual([]);
});

test('files stay under 400 lines and have names that describe their content', () => {
  const long = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 401);
  expect(long.map((file) => path.relative(source, file))).toEqual([]);
  const vague = files.filter((file) =>
    /(^|\/)(utils?|common|helpers?|misc|shared|types|index)(\.tsx?|\/)/.test(path.relative(source, file)),
  );
  expect(vague).toEqual([]);
});

test('the test finds violations', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(imports.filter(({ target }) => target.startsWith('.')).length).toBeGreaterThan(files.length);
});

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const relative = path.relative(source, file);
  const folder = relative.includes(path.sep) ? (relative.split(path.sep)[0] ?? '') : '';
  const found: Import[] = [];
  for (const match of text.matchAll(/^\s*(import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm)) {
    found.push({ file: relative, folder, target: match[3] ?? '', byValue: match[2] === undefined });
  }
  for (const match of text.matchAll(/(?:[^.\w]|^)import\(\s*'([^']+)'/g)) {
    const before = text.slice(Math.max(0, (match.index ?? 0) - 10), match.index);
    found.push({ file: relative, folder, target: match[1] ?? '', byValue: !/typeof\s*$/.test(before) });
  }
  return found;
}

/** The most specific row of the table that a file of `src` belongs to. */
function roomOf(file: string): string {
  const rows = Object.keys(mayImport).filter((row) => file.startsWith(`${row}/`));
  return rows.sort((a, b) => b.length - a.length)[0] ?? file;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(full) : [full];
  });
}
