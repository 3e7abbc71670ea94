import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type ArchiveLimits, archiveLimits, readBackupArchive } from '../../../src/migrate/backups/backup-archive.ts';
import { filesOfObject, paxHeader, type TarEntry, tarGz } from '../../support/migrate/tar-gz.ts';

const deployment = (name: string, more: object = {}, namespace = 'shop') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace, uid: `uid-of-${name}` },
  ...more,
});
const web = deployment('web', { spec: { replicas: 2 }, status: { replicas: 2 } });
const version: TarEntry = { name: 'metadata/version', text: '1.1.0' };
const fileOf = (object: object, more: Partial<TarEntry> = {}): TarEntry => ({
  name: 'resources/deployments.apps/namespaces/shop/web.json',
  text: JSON.stringify(object),
  ...more,
});

const kinds = [
  { group: 'apps', kind: 'Deployment' },
  { group: '', kind: 'Secret' },
];

function read(
  archive: Buffer,
  { pieces = [archive], limits = archiveLimits }: { readonly pieces?: readonly Buffer[]; readonly limits?: ArchiveLimits } = {},
) {
  const chunks = Readable.from(pieces, { objectMode: true }) as AsyncIterable<Buffer>;
  return readBackupArchive({ chunks, namespaces: ['shop'], kinds, limits }, new AbortController().signal);
}

const namesIn = async (archive: Buffer) => {
  const result = await read(archive);
  return result.result === 'read' ? result.objects.map(({ metadata }) => metadata.name) : result;
};

test('returns each object of the requested namespaces and kinds once, with its uid and status', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'shop' }, data: { key: 'YQ==' } };
  const others = [
    deployment('elsewhere', {}, 'other'),
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1', namespace: 'shop' } },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } },
  ];
  const folders: TarEntry[] = [{ name: 'resources/', type: '5' }];
  const archive = tarGz([version, ...folders, ...[web, secret, ...others].flatMap(filesOfObject)]);
  expect(await read(archive)).toEqual({ result: 'read', objects: [web, secret] });
});

test('gives the same objects for any size of the pieces in which the archive arrives', async () => {
  const archive = tarGz([version, ...filesOfObject(web), ...filesOfObject(deployment('x'.repeat(90)))]);
  for (const size of [1, 7, 512, 100_000]) {
    const pieces = Array.from({ length: Math.ceil(archive.length / size) }, (_, at) => archive.subarray(at * size, (at + 1) * size));
    expect(await read(archive, { pieces })).toMatchObject({ result: 'read', objects: [web, { metadata: { name: 'x'.repeat(90) } }] });
  }
});

test('prefers the file outside the folders of versions, then the preferred version, in any order of the files', async () => {
  const files = ['', 'v1-preferredversion/', 'v1beta1/'].map((folder, index) => ({
    name: `resources/deployments.apps/${folder}namespaces/shop/web.json`,
    text: JSON.stringify(deployment('web', { spec: { replicas: index } })),
  }));
  const [plain, preferred, other] = files as [TarEntry, TarEntry, TarEntry];
  const replicasIn = async (...entries: TarEntry[]) => {
    const result = await read(tarGz(entries));
    return result.result === 'read' && result.objects.map(({ spec }) => (spec as { replicas: number }).replicas);
  };
  for (const order of [
    [plain, preferred, other],
    [other, preferred, plain],
    [preferred, plain, other],
  ])
    expect(await replicasIn(...order)).toEqual([0]);
  expect(await replicasIn(other, preferred)).toEqual([1]);
  expect(await replicasIn(other)).toEqual([2]);
});

test('reads integers beyond 2⁵³−1 exactly', async () => {
  const text = '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"},"spec":{"n":9007199254740993}}';
  const result = await read(tarGz([fileOf({}, { text })]));
  expect(result.result === 'read' && JSON.stringify(result.objects[0])).toBe(text);
});

const longName = `resources/deployments.apps/namespaces/shop/${'y'.repeat(200)}.json`;
const long = JSON.stringify(deployment('y'.repeat(200)));
const binarySize = Buffer.alloc(12);
binarySize[0] = 0x80;
binarySize.writeUInt32BE(Buffer.byteLength(JSON.stringify(web)), 8);

test.each<[string, readonly TarEntry[], readonly string[]]>([
  ['a leading ./', [fileOf(web, { name: './resources/deployments.apps/namespaces/shop/web.json' })], ['web']],
  ['no format before POSIX', [fileOf(web, { magic: '', type: '\0' })], ['web']],
  ['a binary size', [fileOf(web, { size: binarySize })], ['web']],
  ['a name in a pax header', [paxHeader({ path: longName, mtime: '1.5' }), { name: 'short', text: long }], ['y'.repeat(200)]],
  [
    'a long name of GNU tar',
    [
      { name: '././@LongLink', type: 'L', text: `${longName}\0` },
      { name: 'short', text: long },
    ],
    ['y'.repeat(200)],
  ],
  [
    'a size in a pax header',
    [paxHeader({ size: String(Buffer.byteLength(JSON.stringify(web))) }), fileOf(web, { size: '00000000000\0' })],
    ['web'],
  ],
  ['a comment for all entries', [paxHeader({ comment: 'by hand' }, 'g'), fileOf(web)], ['web']],
  ['no objects', [version], []],
])('reads an archive with %s', async (_, entries, names) => {
  expect(await namesIn(tarGz(entries))).toEqual(names);
});

const relative = 'expected relative names without `..`';
const noLinks = 'expected files and folders only, got a link';

test.each<[string, readonly TarEntry[], string]>([
  ['a symbolic link', [{ name: 'resources/link', type: '2', link: '/etc/passwd' }], noLinks],
  ['a hard link', [{ name: 'resources/link', type: '1', link: 'metadata/version' }], noLinks],
  ['a long target of a link', [{ name: '././@LongLink', type: 'K', text: '/etc/passwd' }], noLinks],
  ['a link target in a pax header', [paxHeader({ linkpath: '/etc/passwd' })], noLinks],
  ['a device', [{ name: 'resources/device', type: '3' }], 'expected files and folders only, got an entry of type "3"'],
  ['a named pipe', [{ name: 'resources/pipe', type: '6' }], 'got an entry of type "6"'],
  ['a sparse file of GNU tar', [{ name: 'resources/sparse', type: 'S' }], 'got an entry of type "S"'],
  ['a sparse file of pax', [paxHeader({ 'GNU.sparse.major': '1' })], 'expected no sparse files'],
  ['..', [{ name: '../x' }], relative],
  ['.. within a name', [{ name: 'resources/a/../../../x' }], relative],
  ['.. as a folder', [{ name: 'resources/..', type: '5' }], relative],
  ['.. behind backslashes', [{ name: 'resources\\..\\..\\x' }], relative],
  ['.. in a pax header', [paxHeader({ path: '../x' }), { name: 'fine' }], relative],
  ['.. in a long name', [{ name: 'L', type: 'L', text: 'a/../../x\0' }, { name: 'fine' }], relative],
  ['an absolute name', [{ name: '/etc/passwd' }], relative],
  ['an absolute name of Windows', [{ name: 'C:\\x' }], relative],
  ['a name for all entries', [paxHeader({ path: 'x' }, 'g')], 'expected no path and no size in a pax header for all files'],
  ['a folder with content', [{ name: 'resources/', type: '5', text: 'x' }], 'expected a folder without content'],
  ['a wrong checksum', [{ name: 'resources/x', checksum: '0000001\0' }], 'wrong checksum'],
  ['a size that is no number', [{ name: 'resources/x', size: '9999' }], 'expected a size in octal digits'],
  [
    'a pax header with a wrong length',
    [{ name: 'p', type: 'x', text: '99 path=a\n' }],
    'expected pax records of the form LENGTH KEY=VALUE',
  ],
  ['a pax header without a length', [{ name: 'p', type: 'x', text: 'path=a\n' }], 'expected pax records of the form LENGTH KEY=VALUE'],
  ['large headers', [{ name: 'p', type: 'x', text: 'x'.repeat((64 << 10) + 1) }], 'expected headers of at most 65536 bytes'],
  ['an object above 3 MiB', [fileOf({}, { text: ' '.repeat((3 << 20) + 1) })], 'expected files of at most 3145728 bytes'],
  ['a file that is not JSON', [fileOf({}, { text: 'canary' })], 'expected Kubernetes objects in JSON'],
  ['a file that is no object', [fileOf({ items: [] })], 'expected Kubernetes objects in JSON'],
  ['deep nesting', [fileOf({}, { text: JSON.stringify({ ...web, x: nested(300) }) })], 'expected Kubernetes objects in JSON'],
  [
    'an object of another namespace',
    [fileOf(deployment('web', {}, 'other'))],
    'expected each object in the file of its namespace and name',
  ],
  ['an object of another name', [fileOf(deployment('api'))], 'expected each object in the file of its namespace and name'],
  ['no file of Velero', [{ name: 'README.md', text: 'x' }], 'expected a backup of Velero, got another archive'],
])('M4: refuses the whole archive for %s', async (_, entries, message) => {
  const good = [version, ...filesOfObject(web)].filter(() => message !== 'expected a backup of Velero, got another archive');
  for (const order of [
    [...good, ...entries],
    [...entries, ...good],
  ]) {
    const result = await read(tarGz(order));
    expect(result).toEqual({ result: 'malformed', message: expect.stringContaining(message) });
    expect(JSON.stringify(result)).not.toContain('canary');
  }
});

test.each<[string, Buffer, string]>([
  ['is not packed', Buffer.from('canary'.repeat(100)), 'expected a file packed with gzip'],
  ['is empty', Buffer.alloc(0), 'the archive is cut off'],
  ['is cut off in gzip', tarGz([version]).subarray(0, -20), 'the archive is cut off'],
  ['is cut off in a header', gzipSync(Buffer.alloc(100, 1)), 'the archive is cut off'],
  ['has no end', tarGz([version], { end: Buffer.alloc(0) }), 'the archive is cut off'],
  [
    'has a link after its end',
    tarGz([version], { end: Buffer.concat([Buffer.alloc(1024), Buffer.from('x')]) }),
    'expected no data after the end',
  ],
  ['has a wrong checksum of gzip', corrupted(tarGz([version, ...filesOfObject(web)])), 'expected a file packed with gzip'],
])('refuses an archive that %s', async (_, archive, message) => {
  expect(await read(archive)).toEqual({ result: 'malformed', message: expect.stringContaining(message) });
});

test('stops at its bounds: bytes packed, bytes unpacked, and bytes of manifests', async () => {
  const archive = tarGz([
    version,
    ...filesOfObject(web),
    ...filesOfObject(deployment('api')),
    { name: 'resources/zeros', text: '\0'.repeat(1 << 20) },
  ]);
  const kept = JSON.stringify(web).length + JSON.stringify(deployment('api')).length;
  const exact = { packed: archive.length, unpacked: 512 * 14 + (1 << 20) + 512 * 6, kept };
  const withLimits = (limits: Partial<ArchiveLimits>) => read(archive, { limits: { ...archiveLimits, ...limits } });
  expect(await withLimits({ packed: exact.packed, kept: exact.kept })).toMatchObject({ result: 'read' });
  const messageFor = async (limits: Partial<ArchiveLimits>) => {
    const result = await withLimits(limits);
    return result.result === 'malformed' ? result.message : result;
  };
  expect(await messageFor({ packed: exact.packed - 1 })).toContain('bytes packed');
  expect(await messageFor({ unpacked: 1 << 20 })).toBe('expected an archive of at most 1048576 bytes unpacked');
  expect(await messageFor({ kept: exact.kept - 1 })).toContain('bytes of manifests in the requested namespaces');
});

test('reads an archive that unpacks to far more than memory only up to the bound, and ends the source', async () => {
  const bomb = gzipSync(Buffer.alloc(64 << 20));
  let isEnded = false;
  async function* endless() {
    try {
      for (;;) yield bomb;
    } finally {
      isEnded = true;
    }
  }
  const chunks = (async function* () {
    yield tarGz([{ ...fileOf(web), size: '77777777777\0' }], { end: Buffer.alloc(0) });
    yield* endless();
  })();
  const limits = { ...archiveLimits, unpacked: 256 << 20 };
  const result = await readBackupArchive({ chunks, namespaces: [], kinds, limits }, new AbortController().signal);
  expect(result).toEqual({ result: 'malformed', message: 'expected an archive of at most 268435456 bytes unpacked' });
  expect(isEnded).toBe(true);
});

test('passes on an error of the source, and an abort', async () => {
  const broken = (async function* () {
    yield tarGz([version]).subarray(0, 20);
    throw new Error('the connection broke');
  })();
  const options = { namespaces: ['shop'], kinds, limits: archiveLimits };
  await expect(readBackupArchive({ chunks: broken, ...options }, new AbortController().signal)).rejects.toThrow('the connection broke');
  const life = new AbortController();
  const silent = (async function* () {
    yield tarGz([version]).subarray(0, 20);
    life.abort();
    throw new Error('the source saw the abort');
  })();
  await expect(readBackupArchive({ chunks: silent, ...options }, life.signal)).rejects.toThrow('abort');
});

function nested(levels: number): unknown {
  return levels === 0 ? 0 : [nested(levels - 1)];
}

function corrupted(archive: Buffer): Buffer {
  const copy = Buffer.from(archive);
  copy.writeUInt32LE((copy.readUInt32LE(copy.length - 8) ^ 1) >>> 0, copy.length - 8);
  return copy;
}
