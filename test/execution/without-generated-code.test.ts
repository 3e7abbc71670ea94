import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const program = path.join(import.meta.dirname, '../support/execution/repeated-query.ts');

test('a process that may not generate code answers everything with graphql-js', async () => {
  const run = async (...flags: readonly string[]) => (await promisify(execFile)(process.execPath, [...flags, program])).stdout.trim();
  const answer = '{"data":{"items":[{"n":1},{"n":2}]}}';
  expect(await run('--disallow-code-generation-from-strings')).toBe(`${answer} graphql-js,graphql-js`);
  expect(await run()).toBe(`${answer} graphql-js,compiled`);
});
