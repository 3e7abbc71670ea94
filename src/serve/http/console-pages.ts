import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { acceptedEncoding, type CompressedBytes, compressWithGzip, matchesEtag } from '../../operations/compressed-bytes.ts';
import { type HttpAnswer, textAnswer } from './http-answer.ts';

/** The folder of the built console. It has the same place relative to `src` and to `dist`. */
const builtConsole = fileURLToPath(new URL('../../../dist/console', import.meta.url));

/** The paths of pages. Each page is the same document, whose script reads the path. */
const pagePaths = [
  /^\/$/,
  /^\/objects(\/[^/]+)?$/,
  /^\/object(\/[^/]+){4}$/,
  /^\/jobs$/,
  /^\/propagations$/,
  /^\/propagations\/new$/,
  /^\/propagations(\/[^/]+){2}$/,
];

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface ConsoleFile {
  readonly bytes: CompressedBytes;
  readonly headers: Readonly<Record<string, string>>;
}

interface ConsoleFiles {
  readonly page: ConsoleFile;
  /** The scripts and styles, by their path. */
  readonly assets: ReadonlyMap<string, ConsoleFile>;
}

/** Serves the files of the console. They contain no data of clusters, so they need no token. */
export interface ConsolePages {
  /** Returns a function that answers a GET or HEAD of a page or a file. Undefined if the path is of neither. */
  at(path: string, request: Pick<IncomingMessage, 'headers'>): (() => Promise<HttpAnswer>) | undefined;
}

/**
 * Creates the pages of the console. The files are read, checked and compressed on first use, and then kept: some 100 kB. If the console has
 * not been built, its pages answer 503 with the command that builds it.
 *
 * @param folder Default: `dist/console` of this package.
 */
export function createConsolePages(folder = builtConsole): ConsolePages {
  let files: Promise<ConsoleFiles | undefined> | undefined;
  const read = () => {
    files ??= readFiles(folder);
    return files;
  };
  const send = async (request: Pick<IncomingMessage, 'headers'>, choose: (all: ConsoleFiles) => ConsoleFile | undefined) => {
    const all = await read();
    if (all === undefined) return textAnswer(503, 'the console is not built: run `npm run build`. GraphQL is at /graphql\n');
    const file = choose(all);
    return file === undefined ? textAnswer(404, 'no such file of the console\n') : answerWith(file, request);
  };
  return {
    at: (path, request) => {
      if (path.startsWith('/assets/')) return () => send(request, ({ assets }) => assets.get(path));
      return pagePaths.some((page) => page.test(path)) ? () => send(request, ({ page }) => page) : undefined;
    },
  };
}

function answerWith({ bytes, headers }: ConsoleFile, request: Pick<IncomingMessage, 'headers'>): HttpAnswer {
  const { etag } = headers;
  if (etag !== undefined && matchesEtag(request.headers['if-none-match'], etag)) return { status: 304, headers };
  const found = acceptedEncoding(request.headers['accept-encoding'], bytes);
  return { status: 200, headers: { ...headers, ...found.headers }, body: [found.body] };
}

async function readFiles(folder: string): Promise<ConsoleFiles | undefined> {
  const page = await readFile(path.join(folder, 'index.html')).catch(() => undefined);
  if (page === undefined) return undefined;
  const names = await readdir(path.join(folder, 'assets'));
  const assets = names.map(async (name) => {
    const bytes = await compressWithGzip(await readFile(path.join(folder, 'assets', name)));
    const type = contentTypes[path.extname(name)] ?? 'application/octet-stream';
    return [
      `/assets/${name}`,
      { bytes, headers: { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' } },
    ] as const;
  });
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    etag: `"${createHash('sha256').update(page).digest('base64url')}"`,
  };
  return { page: { bytes: await compressWithGzip(page), headers }, assets: new Map(await Promise.all(assets)) };
}
