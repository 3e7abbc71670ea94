import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { MusterError } from '../../../src/core/errors.ts';
import type { Json } from '../../../src/core/json.ts';
import { vectorOps } from './registry.ts';
import { runVectorFile, vectorFilesIn } from './run-vectors.ts';
import { sameAnswer, structVectorOp, type VectorOps, vectorOp } from './vector.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'vectors-'));
afterAll(() => rmSync(directory, { recursive: true }));

const ops: VectorOps = {
  sums: {
    '': vectorOp(({ a, b }: { a: number; b: number }) => ({ sum: a + b })),
    refuse: vectorOp(() => {
      throw new MusterError('BAD_INPUT', 'no');
    }),
    break: vectorOp(() => {
      throw new TypeError('a bug');
    }),
    change: vectorOp((input: { list: number[] }) => input.list.push(1)),
  },
};

describe('a run', () => {
  test('reports failed cases with the expected and the actual result', () => {
    const file = written('sums.json', [vector('right', { a: 1, b: 2 }, { sum: 3 }), vector('wrong', { a: 1, b: 2 }, { sum: 4 })]);
    expect(runVectorFile(file, ops)).toEqual({
      passed: 1,
      failures: [{ file: 'sums.json', name: 'wrong', expected: { sum: 4 }, got: { sum: 3 } }],
    });
  });

  test('takes a refusal for the answer `error`, and a bug for a failure', () => {
    const cases = [
      vector('refused', { op: 'refuse' }, { error: true, errorText: 'nope' }),
      vector('broken', { op: 'break' }, { error: true }),
    ];
    expect(runVectorFile(written('sums.json', cases), ops).failures.map(({ name }) => name)).toEqual(['broken']);
  });

  test('fails an op that changes its input', () => {
    const { failures } = runVectorFile(written('sums.json', [vector('changing', { op: 'change', list: [] }, 1)]), ops);
    expect(failures).toHaveLength(1);
  });

  test.each<[string, string, unknown]>([
    ['an unknown file', 'others.json', [vector('x', {}, {})]],
    ['an unknown op', 'sums.json', [vector('x', { op: 'toString' }, {})]],
    ['a file without cases', 'sums.json', []],
    ['a file that is no list', 'sums.json', {}],
    ['a case without an input', 'sums.json', [{ name: 'x' }]],
  ])('fails %s', (_, name, content) => {
    expect(runVectorFile(written(name, content), ops)).toMatchObject({ passed: 0, failures: [{}] });
  });

  test('takes the JSON files of a directory, not of those below', () => {
    mkdirSync(path.join(directory, 'listed', 'below'), { recursive: true });
    for (const name of ['listed/b.json', 'listed/a.json', 'listed/README.md', 'listed/below/c.json']) written(name, []);
    expect(vectorFilesIn(path.join(directory, 'listed')).map((file) => path.basename(file))).toEqual(['a.json', 'b.json']);
  });
});

describe('npm run vectors', () => {
  const run = promisify(execFile);
  const program = path.join(import.meta.dirname, '../../../scripts/vectors.ts');
  const runIn = (folder: string) =>
    run(process.execPath, [program], { env: { ...process.env, VECTORS_DIR: folder } }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { readonly code: number; readonly stdout: string }) => ({ code: error.code, stdout: error.stdout }),
    );

  test('ends with the numbers of passed and failed cases, and names the failed ones', async () => {
    const folder = path.join(directory, 'run');
    mkdirSync(folder);
    written('run/karmada-revise-replicas.json', [vector('odd', { op: 'unheard of' }, {})]);
    written('run/others.json', [vector('odd', {}, {})]);
    const { code, stdout } = await runIn(folder);
    expect(code).toBe(1);
    expect(stdout).toBe(
      'karmada-revise-replicas.json: odd\n  expected a known op\n  got      unheard of\n' +
        'others.json: (the file)\n  expected a known file\n  got      an unknown one\n0 passed, 2 failed\n',
    );
  });

  test('exits with 0 if all cases passed, and with 2 if there are none', async () => {
    const own = path.join(import.meta.dirname, 'own');
    const passed = vectorFilesIn(own).reduce((sum, file) => sum + runVectorFile(file, vectorOps).passed, 0);
    expect(await runIn(own)).toEqual({ code: 0, stdout: `${passed} passed, 0 failed\n` });
    expect(await runIn(path.join(directory, 'nowhere'))).toEqual({ code: 2, stdout: '' });
  });
});

describe('answers are the same', () => {
  test.each<[unknown, Json, boolean]>([
    [{ a: 1 }, { a: 1 }, true],
    [{ a: 1, b: undefined, c: null, d: 0, e: '', f: false, g: [], h: {} }, { a: 1 }, true],
    [{ a: { b: {} } }, {}, true],
    [undefined, null, true],
    [null, {}, true],
    [{ a: [0] }, {}, false],
    [{ a: [0] }, { a: [null] }, true],
    [{ a: ['x', 'y'] }, { a: ['y', 'x'] }, false],
    [{ a: 1, errorText: 'this' }, { a: 1, errorContains: ['that'] }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: 1 }, { a: '1' }, false],
    [{ assignment: { x: 1 }, tieBreak: 'z' }, { anyOf: [{ y: 1 }, { x: 1 }] }, true],
    [{ assignment: { x: 2 } }, { anyOf: [{ y: 1 }, { x: 1 }] }, false],
  ])('%j, %j: %s', (got, expected, same) => expect(sameAnswer(got, expected)).toBe(same));

  test('in any order, and without some keys, if the vector file says so', () => {
    const comparison = { unordered: ['a'], ignored: ['time'] };
    expect(sameAnswer({ a: [{ n: 2 }, { n: 1, time: 3 }] }, { a: [{ n: 1 }, { n: 2 }], time: 4 }, comparison)).toBe(true);
    expect(sameAnswer({ a: [{ n: 2 }, { n: 2 }] }, { a: [{ n: 1 }, { n: 2 }] }, comparison)).toBe(false);
  });
});

function vector(name: string, input: Json, expected: Json): Json {
  return { name, source: 'here', input, expected };
}

function written(name: string, content: unknown): string {
  const file = path.join(directory, name);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

test('an input that upstream reads into structs of Go has no null', () => {
  const { run } = structVectorOp((input: unknown) => input);
  expect(run({ a: null, b: [null, { c: null, d: 1 }], e: { f: null } })).toEqual({ b: [{}, { d: 1 }], e: {} });
});

test.each(Object.entries(vectorOps['karmada-validation'] ?? {}))(
  'the operation %s of karmada-validation answers an empty input',
  (_, op) => {
    expect(op.run({})).toBeTypeOf('object');
  },
);
