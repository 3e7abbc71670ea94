import type { TestGateway } from './start-gateway.ts';

/** Returns the text that Prometheus would scrape. */
export async function metricsText({ url }: Pick<TestGateway, 'url'>): Promise<string> {
  return (await fetch(new URL('/metrics', url))).text();
}

/** Returns the sum of a metric's series with these labels. 0 if there is none. */
export async function metricOf(
  gateway: Pick<TestGateway, 'url'>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  let sum = 0;
  for (const line of (await metricsText(gateway)).split('\n')) {
    if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue;
    if (wanted.every((label) => line.includes(label))) sum += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return sum;
}
