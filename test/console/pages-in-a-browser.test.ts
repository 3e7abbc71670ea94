import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, browserTitle, launchBrowser } from '../support/browser.ts';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

const patience = { timeout: 20_000 };

describe.skipIf(browserPath === undefined)(`the console in ${browserTitle}`, () => {
  let folder: string;
  let gateway: RunningProcess;
  let origin: string;
  let browser: Browser;
  const opened: Page[] = [];
  beforeAll(async () => {
    await build({ logLevel: 'error' });
    folder = await mkdtemp(path.join(tmpdir(), 'muster-console-'));
    [gateway, browser] = await Promise.all([
      runMuster(['--demo', '--port', '0', '--log-level', 'error'], { HOME: folder, XDG_STATE_HOME: folder }),
      launchBrowser(),
    ]);
    origin = new URL((await gateway.says(/^ready (http\S+)$/m))[1] ?? '').origin;
  });
  afterEach(async () => {
    for (const page of opened.splice(0)) await page.context().close();
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  async function visit(at: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
    const page = await context.newPage();
    opened.push(page);
    page.on('pageerror', (error) => expect.unreachable(error.message));
    await page.goto(origin + at);
    return page;
  }

  const rowsOf = (page: Page, name: string) => page.getByRole('table', { name, exact: true }).getByRole('row');

  test.each([
    ['/', 'Clusters'],
    ['/objects', 'Kinds'],
    ['/objects/pods?group=cluster.name', 'pods'],
    ['/objects/deployments.apps', 'deployments'],
    ['/jobs', 'Summary'],
  ])('%s passes axe, in light and in dark, and at 320 pixels only its tables scroll sideways', async (at, table) => {
    const axe = await readFile('node_modules/axe-core/axe.min.js', 'utf8');
    for (const options of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, { viewport: { width: 320, height: 700 } }] as const) {
      const page = await visit(at, options);
      await expect.poll(() => rowsOf(page, table).count(), patience).toBeGreaterThan(1);
      await page.evaluate(axe);
      const violations = await page.evaluate(
        'axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.map((v) => v.id))',
      );
      expect(violations).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
  });

  test('a filter, the order and the tab are in the URL, and Back returns to the state before', async () => {
    const page = await visit('/objects/pods');
    await page.getByRole('columnheader', { name: 'Name', exact: true }).getByRole('button').click();
    await expect.poll(() => new URL(page.url()).searchParams.get('sort'), patience).toBe('metadata.name');
    await page.getByRole('searchbox').fill('fraud');
    await expect.poll(() => new URL(page.url()).searchParams.get('search'), patience).toBe('fraud');
    await expect.poll(() => rowsOf(page, 'pods').count(), patience).toBeLessThan(6);
    await rowsOf(page, 'pods').getByRole('link').first().click();
    await page.getByRole('tab', { name: 'Events' }).click();
    expect(new URL(page.url()).searchParams.get('tab')).toBe('events');
    await page.goBack();
    await page.goBack();
    await expect.poll(() => new URL(page.url()).pathname, patience).toBe('/objects/pods');
    expect(await page.getByRole('searchbox').inputValue()).toBe('fraud');
  });

  test('a wrong condition, an unknown field and an unknown kind are said', async () => {
    for (const [at, text] of [
      ['/objects/pods?where=%3D%3D', 'spec.replicas>3'],
      ['/objects/pods?columns=spec.nope', 'no field nope'],
      ['/objects/nosuch', 'nosuch'],
    ] as const) {
      const page = await visit(at);
      await page.getByRole('alert').filter({ hasText: text }).waitFor();
    }
  });

  test('the focus stays on its row while the order changes', async () => {
    const page = await visit('/objects/pods?namespaces=payments');
    await expect.poll(() => rowsOf(page, 'pods').count(), patience).toBeGreaterThan(3);
    await page.keyboard.press('j');
    const focused = () => page.evaluate('document.activeElement.textContent');
    await expect.poll(focused, patience).not.toBe('');
    const before = await focused();
    await page.evaluate(
      'history.pushState(null, "", "?namespaces=payments&sort=-metadata.name"), dispatchEvent(new PopStateEvent("popstate"))',
    );
    await expect
      .poll(() => page.getByRole('columnheader', { name: 'Name', exact: true }).getAttribute('aria-sort'), patience)
      .toBe('descending');
    expect(await focused()).toBe(before);
  });
});
