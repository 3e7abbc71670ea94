import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { chartFolder, helmProgram } from '../../scripts/chart.ts';

/** The path of Helm. Undefined if it is missing: skip the test then. */
export const helm = helmProgram();

/** A rendered object of the chart. */
export interface ChartObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every kind.
  readonly [key: string]: any;
}

/**
 * Renders the chart with these values in the namespace `fleet`. Rejects with the message of Helm if it refuses.
 *
 * @param release Default: `muster`.
 */
export async function renderChart(values: object, release = 'muster'): Promise<readonly ChartObject[]> {
  if (helm === undefined) throw new Error('no Helm: skip where helm is undefined');
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-chart-'));
  try {
    const file = path.join(folder, 'values.json');
    await writeFile(file, JSON.stringify(values));
    const chart = path.join(import.meta.dirname, '../..', chartFolder);
    const args = ['template', release, chart, '--namespace', 'fleet', '--values', file];
    const { stdout } = await promisify(execFile)(helm, args, { maxBuffer: 64 << 20 });
    return parseAllDocuments(stdout).flatMap((document) => document.toJS() ?? []);
  } finally {
    await rm(folder, { recursive: true });
  }
}
