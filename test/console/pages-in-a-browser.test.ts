import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, browserTitle, launchBrowser } from '../support/browser.ts';
import { type RunningProcess, runMuster } from '../support/run-process.ts';

const patience = { timeout: 20_000 };

// A rollout takes half a minute on a busy machine.
describe.skipIf(browserPath === undefined)(`the console in ${browserTitle}`, { timeout: 60_000 }, () => {
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

  async function visit(at: string, options: BrowserContextOptions = {}, gatewayOrigin = origin): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
    const page = await context.newPage();
    opened.push(page);
    page.on('pageerror', (error) => expect.unreachable(error.message));
    await page.goto(gatewayOrigin + at);
    return page;
  }

  // The address of the page arrives in this process later than the effect of a click.
  const queryOf = (page: Page, name: string) => expect.poll(() => new URL(page.url()).searchParams.get(name), patience);
  const pathOf = (page: Page) => expect.poll(() => new URL(page.url()).pathname, patience);
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
    await queryOf(page, 'sort').toBe('metadata.name');
    await page.getByRole('searchbox').fill('fraud');
    await queryOf(page, 'search').toBe('fraud');
    // The first row has the titles of the columns.
    const areFound = async () => (await rowsOf(page, 'pods').allInnerTexts()).slice(1).map((row) => row.includes('fraud-check'));
    await expect.poll(async () => [...new Set(await areFound())], patience).toEqual([true]);
    await rowsOf(page, 'pods').getByRole('link').first().click();
    await page.getByRole('tab', { name: 'Events' }).click();
    await queryOf(page, 'tab').toBe('events');
    await page.goBack();
    await queryOf(page, 'tab').toBe(null);
    await page.goBack();
    await pathOf(page).toBe('/objects/pods');
    await expect.poll(() => page.getByRole('searchbox').inputValue(), patience).toBe('fraud');
  });

  test('a wrong condition, an unknown field and an unknown kind are said', async () => {
    for (const [at, text] of [
      ['/objects/pods?where=%3D%3D', 'spec.replicas>3'],
      ['/objects/pods?columns=spec.nope', 'no field nope'],
      ['/objects/nosuch', 'The clusters have no kind nosuch. The page Objects lists all kinds.'],
      ['/objects/podz', /no kind podz; did you mean \w+\? The page Objects lists all kinds\.$/],
    ] as const) {
      const page = await visit(at);
      await page.getByRole('alert').filter({ hasText: text }).waitFor();
    }
  });

  test('an absent Propagation is said, and no kind gets filters if it is unknown', async () => {
    const absent = await visit('/propagations/default/nosuch');
    await absent.getByRole('alert').filter({ hasText: 'There is no Propagation nosuch in namespace default.' }).waitFor();
    const unknown = await visit('/objects/nosuch');
    await unknown.getByRole('alert').waitFor();
    expect(await unknown.getByRole('searchbox').count()).toBe(0);
  });

  test('Relations of a Service has the Pods that it selects, and Logs has the runs before the current ones', async () => {
    const service = await visit('/object/eu-prod/services/shop/cart?tab=relations');
    const pods = service.getByRole('tree', { name: 'Pods that it selects' }).getByRole('link');
    await expect.poll(() => pods.count(), patience).toBeGreaterThan(0);
    expect(await pods.first().textContent()).toMatch(/^cart-/);
    const logs = await visit('/object/us-prod/deployments.apps/payments/fraud-check?tab=logs');
    await logs.getByRole('checkbox', { name: 'Previous run of each container' }).check();
    await queryOf(logs, 'previous').toBe('true');
    await logs.getByRole('log').filter({ hasText: 'msg=starting' }).waitFor();
  });

  test('F5: nothing is written before the dialog that names the clusters is confirmed', async () => {
    const page = await visit('/propagations/new');
    const writes: string[] = [];
    page.on('request', (sent) => {
      if (sent.postData()?.includes('mutation') === true) writes.push(sent.postData() ?? '');
    });
    await page.getByRole('textbox', { name: 'Intent' }).fill(await readFile('deploy/examples/greeter.yaml', 'utf8'));
    await page.getByRole('button', { name: 'Plan', exact: true }).click();
    await page.getByRole('button', { name: 'Propagate', exact: true }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.innerText()).toMatch(/eu-prod[\s\S]*staging[\s\S]*us-prod/);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(writes).toEqual([]);
    await page.getByRole('button', { name: 'Propagate', exact: true }).click();
    await dialog.getByRole('button', { name: 'Propagate', exact: true }).click();
    await pathOf(page).toBe('/propagations/default/greeter');
    expect(writes).toHaveLength(1);
    await page.getByText('Settled, 3 of 3 clusters done').waitFor();
  });

  test('the banner disappears with the first answer, also on a page that sends no queries', async () => {
    const page = await visit('/');
    await expect.poll(() => rowsOf(page, 'Clusters').count(), patience).toBeGreaterThan(1);
    await page.route('**/graphql', (route) => route.abort());
    const banner = page.getByText('The gateway does not answer.');
    await banner.waitFor();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await expect.poll(() => rowsOf(page, 'Jobs').count(), patience).toBeGreaterThan(1);
    await banner.waitFor({ state: 'hidden' });
  });

  test('the focus stays on its row while the order changes', async () => {
    const page = await visit('/objects/pods?namespaces=payments');
    await expect.poll(() => rowsOf(page, 'pods').count(), patience).toBeGreaterThan(3);
    await page.keyboard.press('j');
    const focused = () => page.evaluate('document.activeElement?.closest("a")?.textContent ?? ""');
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

  describe('of a gateway without clusters', () => {
    let empty: RunningProcess;
    let emptyOrigin: string;
    beforeAll(async () => {
      const home = path.join(folder, 'home');
      const kubeconfig = path.join(home, '.kube/config');
      await mkdir(path.dirname(kubeconfig), { recursive: true });
      const contextOf = (name: string) =>
        `clusters: [{name: ${name}, cluster: {server: "http://127.0.0.1:9"}}]\nusers: [{name: me, user: {}}]\ncontexts: [{name: ${name}, context: {cluster: ${name}, user: me}}]\n`;
      const head = 'apiVersion: v1\nkind: Config\n';
      await writeFile(kubeconfig, head + contextOf('far'));
      empty = runMuster(['--port', '0', '--log-level', 'error'], { HOME: home, XDG_STATE_HOME: home });
      emptyOrigin = new URL((await empty.says(/^ready (http\S+)$/m))[1] ?? '').origin;
      await writeFile(kubeconfig, head);
    });
    afterAll(() => empty[Symbol.asyncDispose]());

    test.each([
      ['/', 'status', 'No clusters.'],
      ['/objects', 'status', 'No kinds, because there are no clusters.'],
      ['/objects/pods', 'status', 'No pods: no cluster serves them'],
      ['/jobs', 'status', 'No Jobs: no cluster serves them'],
      ['/propagations', 'alert', 'there is no hub to keep Propagations'],
      ['/propagations/default/nosuch', 'alert', 'there is no hub to keep Propagations'],
    ] as const)('%s says so', async (at, role, text) => {
      const page = await visit(at, {}, emptyOrigin);
      await page.getByRole(role).filter({ hasText: text }).first().waitFor();
      expect(await page.getByText('The gateway does not answer.').count()).toBe(0);
    });
  });
});
