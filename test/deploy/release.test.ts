import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const repository = path.join(import.meta.dirname, '../..');
const text = readFileSync(path.join(repository, '.github/workflows/release.yml'), 'utf8');

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
}
const workflow = parse(text) as { readonly permissions: object; readonly jobs: Readonly<Record<string, Job>> };
const jobs = Object.entries(workflow.jobs);
const steps = jobs.flatMap(([, job]) => job.steps);

// The parser imports its schema as bundlers do. Node needs to be told that it is JSON.
registerHooks({
  load: (url, context, next) => next(url, url.endsWith('.min.json') ? { ...context, importAttributes: { type: 'json' } } : context),
});

/** The parser of GitHub, which checks a workflow against the schema of workflows. Undefined: `npm ci` has not installed it yet. */
const parser = await import('@actions/workflow-parser' as string).catch(() => undefined);

/** Returns the problems that GitHub would report. */
function problemsOf(content: string): readonly string[] {
  const { context } = parser.parseWorkflow({ name: 'release.yml', content }, new parser.NoOperationTraceWriter());
  return context.errors.getErrors().map(({ message }: { readonly message: string }) => message);
}

describe.skipIf(parser === undefined)('the schema of workflows', () => {
  test('accepts the release workflow', () => {
    expect(problemsOf(text)).toEqual([]);
  });

  test.each([
    ['an unknown key of a job', 'timeout-minutes: 60', 'timeout-minuts: 60'],
    ['an unknown key of a step', '- run: npm ci\n', '- rum: npm ci\n'],
    ['a permission that does not exist', 'id-token: write', 'id-tokens: write'],
  ])('refuses %s', (_, right, wrong) => {
    expect(text).toContain(right);
    expect(problemsOf(text.replace(right, wrong))).not.toEqual([]);
  });
});

test('each job waits for jobs that exist', () => {
  const needed = jobs.flatMap(([, { needs = [] }]) => needs);
  expect(needed.filter((name) => !(name in workflow.jobs))).toEqual([]);
  expect(jobs.filter(([name, { needs }]) => needs === undefined && name !== 'check')).toEqual([]);
});

test('each job has a time limit and only the rights that it needs', () => {
  expect(workflow.permissions).toEqual({ contents: 'read' });
  for (const [name, job] of jobs) expect(job['timeout-minutes'], name).toBeLessThanOrEqual(60);
  const writes = jobs.flatMap(([name, { permissions = {} }]) =>
    Object.keys(permissions).flatMap((right) => (permissions[right] === 'write' ? [`${name} ${right}`] : [])),
  );
  expect(writes).toEqual(['package id-token', 'image packages', 'image id-token', 'chart packages', 'release contents']);
});

test('each action has a version, and no command contains an expression, which could inject commands', () => {
  expect(steps.filter(({ uses }) => uses !== undefined && !/^[\w-]+\/[\w-]+@v\d+$/.test(uses))).toEqual([]);
  expect(steps.filter(({ run = '' }) => run.includes('${{'))).toEqual([]);
});

test('the files and npm scripts that it names exist', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8'));
  const named = [...text.matchAll(/npm run ([\w-]+)/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const files = [...text.matchAll(/\b((?:deploy|test)\/[\w./-]*\w)/g)].map(([, file = '']) => file);
  expect(files.filter((file) => !existsSync(path.join(repository, file)))).toEqual([]);
});
