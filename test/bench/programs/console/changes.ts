// Presses `j` in the console's table of 10,000 pods while 500 of them change each second. Measures the time from a key press to the frame
// that shows the focus on the next row.
//   changes.ts KUBECONFIG CONTROL PRESSES
// CONTROL is the control URL of the canned server. Needs a built console and Chromium.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser } from '../../../support/browser.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { finish, post } from '../../support/measuring.ts';

const [kubeconfig = '', control = '', pressCount = '50'] = process.argv.slice(2);
const perSecond = 500;
/** Milliseconds between two key presses. No multiple of the console's interval between renders, so presses meet each phase of it. */
const betweenMs = 207;
const presses = Number(pressCount);

/** The script of the page: `keyMs` gets the time from each key press to the frame after the focus has moved, `tasks` each task over 50 ms. */
const watchKeys = `
  var keyMs = [], tasks = [], pressedAt;
  addEventListener('keydown', (event) => { pressedAt = event.timeStamp; }, { capture: true });
  addEventListener('focusin', () => {
    if (pressedAt === undefined) return;
    const from = pressedAt;
    pressedAt = undefined;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => keyMs.push(performance.now() - from);
      channel.port2.postMessage(0);
    });
  });
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
`;

const folder = mkdtempSync(path.join(tmpdir(), 'muster-bench-state-'));
// The gateway ends with this process.
const gateway = await startGatewayProcess(['--kubeconfig', kubeconfig], { folder });
await using browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(new URL('/objects/pods', gateway.url).href);
await page.getByRole('status').filter({ hasText: '10,000 pods' }).waitFor({ timeout: 60_000 });
await page.evaluate(watchKeys);
const seconds = Math.ceil((presses * betweenMs) / 1_000) + 4;
const changes = post(`${control}/push?count=${perSecond * seconds}&rate=${perSecond}`);
await sleep(2_000);
for (let n = 0; n < presses; n += 1) {
  await page.keyboard.press('j');
  await sleep(betweenMs);
}
const { keyMs, tasks } = (await page.evaluate('({ keyMs, tasks })')) as { keyMs: number[]; tasks: number[] };
await changes;
if (keyMs.length !== presses) throw new Error(`expected an answer to each of ${presses} key presses, got ${keyMs.length}`);
const sorted = keyMs.toSorted((a, b) => a - b);
const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
await browser.close();
finish({ p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1), longestTaskMs: Math.max(0, ...tasks) });
