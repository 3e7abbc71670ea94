// npm run bench [-- --quick] [--only NAME] [--real] [--samples N]: measures speed and size as ratios to a floor of the same run.
import { readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import type { BenchCase, BenchResult, Figures, Row, Target } from './bench-case.ts';
import { cases } from './cases.ts';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    real: { type: 'boolean', default: false },
    samples: { type: 'string' },
  },
});

const abort = new AbortController();
process.on('SIGINT', () => abort.abort());
process.on('SIGTERM', () => abort.abort());

const wanted = cases.filter((one) =>
  flags.only === undefined ? flags.real || one.real !== true : flags.only.some((name) => isNamed(one, name)),
);
const unknown = (flags.only ?? []).filter((name) => !cases.some((one) => isNamed(one, name)));
if (unknown.length > 0) {
  console.error(`no case ${unknown.join(', ')}; there are: ${cases.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

const results: BenchResult[] = [];
const broken: string[] = [];
for (const one of wanted) {
  try {
    results.push(...(await measured(one)));
  } catch (error) {
    // A broken case must not lose the figures of the other cases.
    broken.push(one.name);
    console.error(error);
  }
}
print(results);
writeFileSync('bench.json', `${JSON.stringify({ versions: versions(), cases: results }, null, 2)}\n`);
const missed = results.filter(({ met }) => !met);
console.log(missed.length === 0 ? '\nall targets met' : `\n${missed.length} of ${results.length} past their target`);
if (broken.length > 0) console.log(`could not be measured: ${broken.join(', ')}`);
process.exitCode = missed.length === 0 && broken.length === 0 ? 0 : 1;

/** True if `name` is the name of the case or of one of its rows. */
function isNamed(one: BenchCase, name: string): boolean {
  return one.name === name || one.rows.some((row) => row.name === name);
}

async function measured(one: BenchCase): Promise<BenchResult[]> {
  console.error(`${one.name} …`);
  await using prepared = await one.prepare({ quick: flags.quick, signal: abort.signal });
  const samples: Record<string, Figures>[] = [];
  for (let n = 0; n < (flags.quick ? 1 : Number(flags.samples ?? one.samples)); n += 1) {
    const sample: Record<string, Figures> = {};
    // One after the other, never in parallel, so that other load of the machine affects all programs alike.
    for (const [name, run] of Object.entries(prepared.programs)) sample[name] = await run();
    samples.push(sample);
  }
  return one.rows.map((row) => resultOf(row, samples));
}

function resultOf(row: Row, figures: readonly Record<string, Figures>[]): BenchResult {
  const samples = figures.map((sample) => ({ ours: row.ours(sample), floor: row.floor?.(sample) ?? null }));
  const ours = median(samples.map((sample) => sample.ours));
  const ratios = samples.flatMap((sample) => (sample.floor === null ? [] : [sample.ours / sample.floor]));
  const ratio = ratios.length === 0 ? null : median(ratios);
  const floor = row.floor === undefined ? null : median(samples.map((sample) => sample.floor ?? Number.NaN));
  const { name, against, unit, target } = row;
  return { name, against, floor, ours, unit, ratio, target: textOf(target), met: isMet(ratio ?? ours, target), samples };
}

function isMet(value: number, target: Target | null): boolean {
  if (target === null) return true;
  return 'atMost' in target ? value <= target.atMost : value >= target.atLeast;
}

function textOf(target: Target | null): string | null {
  if (target === null) return null;
  return 'atMost' in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

function print(rows: readonly BenchResult[]): void {
  const table = rows.map((row) => [
    row.name,
    figure(row.ours),
    row.floor === null ? '' : figure(row.floor),
    row.unit,
    row.ratio === null ? '' : figure(row.ratio),
    row.target ?? '–',
    row.met ? '' : 'MISSED',
    row.against,
  ]);
  const lines = [['case', 'ours', 'floor', 'unit', 'ratio', 'target', '', 'floor is'], ...table];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length))) ?? [];
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function figure(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}

function versions(): Record<string, string> {
  const lock: unknown = JSON.parse(readFileSync('package.json', 'utf8'));
  const dependencies = (lock as { dependencies: Record<string, string> }).dependencies;
  return { node: process.version, cpu: `${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown'}`, ...dependencies };
}
