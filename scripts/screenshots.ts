import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../test/support/browser.ts';
import { startDemoGateway } from './demo-gateway.ts';

// Takes the screenshots of docs/guide/console.md from the embedded fleet: `npm run pictures`, after `npm run build`. Needs Chromium.

const folder = 'docs/guide/images';

interface Shot {
  readonly file: string;
  readonly at: string;
  readonly dark?: boolean;
  /** A text that is visible once the page has its rows. */
  readonly expects: string;
  /** Prepares the page for the screenshot. Default: the page is only loaded. */
  readonly show?: (page: Page) => Promise<void>;
}

const shots: readonly Shot[] = [
  { file: 'fleet', at: '/', expects: 'all answer' },
  { file: 'pods', at: '/objects/pods?group=cluster.name&columns=spec.nodeName&sort=-restarts', expects: 'CrashLoopBackOff' },
  { file: 'relations', at: '/object/us-prod/deployments.apps/payments/fraud-check?tab=relations', expects: 'CrashLoopBackOff' },
  { file: 'jobs', at: '/jobs', dark: true, expects: 'Complete' },
  { file: 'plan', at: '/propagations/new', show: planGreeter, expects: '6 of 6 replicas' },
];

async function planGreeter(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Intent' }).fill(await readFile('deploy/examples/greeter.yaml', 'utf8'));
  await page.getByRole('button', { name: 'Plan', exact: true }).click();
  await page.getByRole('table', { name: 'Plan' }).waitFor();
  await page.getByRole('button', { name: 'Propagate', exact: true }).waitFor();
}

await using gateway = await startDemoGateway();
await mkdir(folder, { recursive: true });
await using browser = await launchBrowser();
for (const { file, at, dark = false, show, expects } of shots) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 700 }, colorScheme: dark ? 'dark' : 'light' });
  const page = await context.newPage();
  await page.goto(gateway.origin + at);
  await show?.(page);
  await page.getByText(expects).first().waitFor();
  await page.getByText(/^Loading| so far/).waitFor({ state: 'hidden' });
  await page.screenshot({ path: path.join(folder, `console-${file}.png`) });
  await context.close();
}
