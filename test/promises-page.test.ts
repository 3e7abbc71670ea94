import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');
/** The number of rows per section. */
const sections = { A: 18, B: 20, C: 9, D: 18, E: 12, F: 8, M: 7, P: 18 };
const rowName = /\b([ABCDEFMP])(\d{1,2})\b/g;

interface PageRow {
  readonly name: string;
  readonly tests: readonly string[];
  readonly notYet: boolean;
}

const page: readonly PageRow[] = readFileSync(path.join(root, 'docs/promises.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, name = '', , tests = ''] = line.split('|').map((cell) => cell.trim());
    if (!/^[ABCDEFMP]\d+$/.test(name)) return [];
    return [{ name, tests: [...tests.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file), notYet: /^not yet: .{10}/.test(tests) }];
  });

/**
 * Returns the rows that the titles in a file name: texts that begin with them (`B3: `, `D1, D2: `) or have them in parentheses at the
 * end.
 */
function rowsNamedIn(file: string): ReadonlySet<string> {
  const text = readFileSync(path.join(root, file), 'utf8');
  const titles = [
    ...text.matchAll(
      /['`](?:(?<first>[ABCDEFMP]\d+(?:(?:, | and )[ABCDEFMP]\d+)*):|[^'`\n]*\((?<last>[ABCDEFMP]\d+(?:, [ABCDEFMP]\d+)*)\)['`])/g,
    ),
  ];
  return new Set(titles.flatMap(({ groups }) => [...(groups?.first ?? groups?.last ?? '').matchAll(rowName)].map(([name]) => name)));
}

const testFiles = readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((file) => `test/${file}`)
  .filter((file) => /(\.test|-cases?)\.ts$/.test(file) && !file.endsWith('promises-page.test.ts'));

test('the page has each row once', () => {
  const expected = Object.entries(sections).flatMap(([letter, count]) =>
    Array.from({ length: count }, (_, index) => `${letter}${index + 1}`),
  );
  expect(page.map(({ name }) => name)).toEqual(expected);
});

describe('the row', () => {
  test.each(page)('$name names tests that name it, or the reason why there is none yet', ({ name, tests, notYet }) => {
    expect(tests.length > 0).toBe(!notYet);
    expect(tests.filter((file) => !rowsNamedIn(file).has(name))).toEqual([]);
  });
});

test('each test that names a row is on the page', () => {
  const missing = testFiles.flatMap((file) =>
    [...rowsNamedIn(file)]
      .filter((row) => !page.some(({ name, tests }) => name === row && tests.includes(file)))
      .map((row) => `${row} ${file}`),
  );
  expect(missing).toEqual([]);
});
