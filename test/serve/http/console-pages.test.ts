import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { createConsolePages } from '../../../src/serve/http/console-pages.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'muster-console-'));
const html = `<!doctype html><title>Muster</title>${'<p>text</p>'.repeat(50)}`;
mkdirSync(path.join(folder, 'assets'));
writeFileSync(path.join(folder, 'index.html'), html);
writeFileSync(path.join(folder, 'assets/index-abc.js'), 'export {};');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pages = createConsolePages(folder);
const get = (at: string, headers: Record<string, string> = {}) => pages.at(at, { headers })?.();

test.each([
  '/',
  '/objects',
  '/objects/deployments.apps',
  '/object/north/pods/shop/web-0',
  '/jobs',
  '/propagations',
  '/propagations/new',
  '/propagations/shop/web',
])('%s is the page, under a policy that allows nothing inline and no other origin (E12)', async (at) => {
  const answer = await get(at);
  expect(answer?.status).toBe(200);
  expect(Buffer.concat(answer?.body ?? []).toString()).toBe(html);
  const policy = String(answer?.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
});

test.each([
  '/nope',
  '/objects/',
  '/objects/a/b',
  '/object/north/pods/shop',
  '/propagations/shop',
  '/propagations/shop/web/more',
  '/index.html',
])('%s is no page', (at) => expect(get(at)).toBeUndefined());

test('a browser that has the page gets 304, and one that accepts gzip gets less', async () => {
  const etag = String((await get('/'))?.headers.etag);
  expect(await get('/jobs', { 'if-none-match': etag })).toMatchObject({ status: 304, headers: { etag, 'cache-control': 'no-cache' } });
  const packed = await get('/', { 'accept-encoding': 'gzip' });
  expect(packed?.headers).toMatchObject({ 'content-encoding': 'gzip' });
  expect(gunzipSync(Buffer.concat(packed?.body ?? [])).toString()).toBe(html);
});

test('files have hashed names, so browsers keep them, and no path leaves their folder', async () => {
  const script = await get('/assets/index-abc.js');
  expect(script?.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  for (const at of ['/assets/', '/assets/nope.js', '/assets/../index.html', '/assets/%2e%2e/index.html'])
    expect((await get(at))?.status).toBe(404);
});

test('says how to build the console if it is not built', async () => {
  const answer = await createConsolePages(path.join(folder, 'missing')).at('/', { headers: {} })?.();
  expect(answer?.status).toBe(503);
  expect(Buffer.concat(answer?.body ?? []).toString()).toContain('npm run build');
});
