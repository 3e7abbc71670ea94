import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

/** Part of the titles of cases that need a browser. A run reports how many of them were skipped. */
export const browserTitle = 'a browser';

/** The browser of `CHROMIUM`, else that of Debian. Undefined if it is missing. */
export const browserPath = [process.env.CHROMIUM ?? '/usr/bin/chromium'].find((file) => existsSync(file));

/** Starts the browser without a window. */
export async function launchBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: browserPath ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
