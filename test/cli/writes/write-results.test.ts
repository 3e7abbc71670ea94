import { describe, expect, test } from 'vitest';
import { type ObjectWriteResult, printResults, type ResultOptions, writeResultFields } from '../../../src/cli/writes/write-results.ts';
import { type CliSessionOptions, createCliSession } from '../../support/cli/cli-session.ts';

function result(cluster: string, parts: Partial<ObjectWriteResult> = {}): ObjectWriteResult {
  const key = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };
  return { cluster: { name: cluster }, key, action: 'CONFIGURED', diff: null, warnings: [], fault: null, ...parts };
}

const failed = (cluster: string, code: string, parts: Partial<ObjectWriteResult> = {}) =>
  result(cluster, { action: 'FAILED', fault: { code, message: 'it is so', cluster: { name: cluster } }, ...parts });

async function told(results: readonly ObjectWriteResult[], options: Partial<ResultOptions> = {}, session: CliSessionOptions = {}) {
  const it = createCliSession(session);
  const code = await printResults(it, results, {
    output: undefined,
    isDry: false,
    configured: 'configured',
    absence: 'failure',
    ...options,
  });
  return { code, out: it.terminal.written, err: it.terminal.told };
}

describe('the line of a result', () => {
  test.each([
    ['CREATED', 'created'],
    ['CONFIGURED', 'configured'],
    ['UNCHANGED', 'unchanged'],
    ['DELETED', 'deleted'],
    ['RESTORED', 'restored'],
  ])('prints %s as kubectl does', async (action, word) => {
    expect((await told([result('north', { action })])).out).toBe(`deployment.apps/web ${word} (north)\n`);
  });

  test('has a word of its own for CONFIGURED', async () => {
    expect((await told([result('north')], { configured: 'scaled' })).out).toBe('deployment.apps/web scaled (north)\n');
    expect((await told([result('north', { action: 'UNCHANGED' })], { configured: 'scaled' })).out).toBe(
      'deployment.apps/web unchanged (north)\n',
    );
  });

  test('shows a dry run and its changes', async () => {
    const { out } = await told([result('north', { diff: '--- live\n+++ planned\n+a\n' })], { isDry: true }, { hasColor: true });
    expect(out).toBe(
      'deployment.apps/web configured (north) (server dry run)\n\x1b[1m--- live\x1b[0m\n\x1b[1m+++ planned\x1b[0m\n\x1b[32m+a\x1b[0m\n',
    );
  });

  test('is the full name with -o name, and empty for a failure', async () => {
    expect(await told([result('north'), failed('south', 'FORBIDDEN')], { output: 'name' })).toEqual({
      code: 1,
      out: 'north/shop/deployment.apps/web\n',
      err: 'warning: south: deployment.apps/web: FORBIDDEN it is so\n',
    });
  });

  test('contains no terminal control character', async () => {
    const { out, err } = await told([result('no\x1brth', { warnings: ['a\nb\x07'] })]);
    expect([out, err]).toEqual(['deployment.apps/web configured (no^[rth)\n', 'warning: no^[rth: deployment.apps/web: a b^G\n']);
  });
});

test('the message of the API server is printed with a failure', async () => {
  const status = { message: 'Deployment.apps "web" is invalid: spec.selector: field is immutable' };
  const { err } = await told([
    failed('north', 'INVALID', { fault: { code: 'INVALID', message: 'it was refused', cluster: { name: 'north' }, status } }),
  ]);
  expect(err).toBe(`warning: north: deployment.apps/web: INVALID it was refused: ${status.message}\n`);
});

test.each(['json', 'yaml'] as const)('-o %s prints the whole result', async (output) => {
  const { out, code, err } = await told([result('north'), failed('south', 'NOT_FOUND')], { output });
  expect(code).toBe(1);
  expect(err).toContain('south');
  if (output === 'yaml') expect(out).toMatch(/^ok: false\nresults:\n {2}- cluster:\n {6}name: north\n/);
  else expect(JSON.parse(out)).toMatchObject({ ok: false, results: [{ action: 'CONFIGURED' }, { fault: { code: 'NOT_FOUND' } }] });
});

test('objects are selected only for programs', () => {
  expect(writeResultFields('json')).toContain('resource { object }');
  expect(writeResultFields(undefined)).not.toContain('resource');
});

describe('the exit code', () => {
  const other = { key: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'api' } };

  test.each<readonly [string, readonly ObjectWriteResult[], Partial<ResultOptions>, readonly string[] | undefined, number]>([
    ['nothing failed', [result('north')], {}, undefined, 0],
    ['nothing was to be done', [], {}, undefined, 0],
    ['one failed', [result('north'), failed('south', 'FORBIDDEN')], { absence: 'allowed' }, undefined, 1],
    ['one is absent where it must not be', [result('north'), failed('south', 'NOT_SERVED')], {}, undefined, 1],
    ['one is absent where it may be', [result('north'), failed('south', 'NOT_FOUND')], { absence: 'allowed' }, undefined, 0],
    ['its kind is absent where it may be', [result('north'), failed('south', 'NOT_SERVED')], { absence: 'allowed' }, undefined, 0],
    ['its cluster was named', [result('north'), failed('south', 'NOT_FOUND')], { absence: 'allowed' }, ['north', 'south'], 1],
    ['it is nowhere', [failed('north', 'NOT_FOUND'), failed('south', 'NOT_FOUND')], { absence: 'allowed' }, undefined, 1],
    [
      'it is somewhere else only',
      [result('north'), failed('north', 'NOT_FOUND', { key: { ...other.key, namespace: 'pay', name: 'web' } })],
      { absence: 'allowed' },
      undefined,
      1,
    ],
    ['one of two is nowhere', [result('north'), failed('north', 'NOT_FOUND', other)], { absence: 'allowed' }, undefined, 1],
  ])('for %s', async (_, results, options, clusters, code) => {
    expect((await told(results, options, clusters === undefined ? {} : { clusters })).code).toBe(code);
  });
});
