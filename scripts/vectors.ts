/**
 * `npm run vectors`: runs every case of every `*.json` in VECTORS_DIR. Default: ../shared/vectors and its folder importers if they exist, else
 * test/propagate/vectors/own and its folder importers.
 *
 * It prints each failure with its name, the expected and the actual value, and ends with `N passed, N failed`. Exit codes: 1 for a failed
 * case, 2 if the folder cannot be read or has no such file.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { vectorOps } from '../test/propagate/vectors/registry.ts';
import { runVectorFile, vectorFilesIn } from '../test/propagate/vectors/run-vectors.ts';

const root = path.join(import.meta.dirname, '..');
const shared = path.join(root, '../shared/vectors');
const usual = existsSync(shared) ? shared : path.join(root, 'test/propagate/vectors/own');
const directories = process.env.VECTORS_DIR === undefined ? [usual, path.join(usual, 'importers')] : [process.env.VECTORS_DIR];

const files = directories.flatMap(filesIn);
if (files.length === 0) {
  console.error(`expected vector files (*.json) in ${directories.join(' and ')}, found none`);
  process.exit(2);
}
const runs = files.map((file) => runVectorFile(file, vectorOps));
for (const { file, name, expected, got } of runs.flatMap(({ failures }) => failures)) {
  console.log(`${file}: ${name}\n  expected ${textOf(expected)}\n  got      ${textOf(got)}`);
}
const failed = runs.reduce((sum, { failures }) => sum + failures.length, 0);
console.log(`${runs.reduce((sum, { passed }) => sum + passed, 0)} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function filesIn(folder: string): readonly string[] {
  return existsSync(folder) ? vectorFilesIn(folder) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
}
