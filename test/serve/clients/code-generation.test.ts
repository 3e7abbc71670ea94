import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { generate } from '@graphql-codegen/cli';
import { expect, test } from 'vitest';

const use = `import type { ClustersQuery } from './muster.ts';
export const first: (answer: ClustersQuery) => string | undefined = (answer) => answer.clusters[0]?.name;
// @ts-expect-error A name is a text.
export const wrong: (answer: ClustersQuery) => number | undefined = (answer) => answer.clusters[0]?.name;
`;

test('the types that a generator makes of the schema and the examples compile, with each scalar mapped', async () => {
  await mkdir('node_modules/.cache', { recursive: true });
  const folder = await mkdtemp(path.resolve('node_modules/.cache/codegen-'));
  try {
    const file = path.join(folder, 'muster.ts');
    const scalars = JSON.parse(await readFile('schema/scalars.json', 'utf8')) as Readonly<Record<string, string>>;
    const [output] = await generate(
      {
        ...{ schema: 'schema/muster.graphql', documents: 'schema/examples/*.graphql', silent: true },
        generates: {
          [file]: {
            plugins: ['typescript-operations'],
            config: { scalars, strictScalars: true, enumsAsTypes: true, useTypeImports: true, immutableTypes: true },
          },
        },
      },
      false,
    );
    await writeFile(file, output.content);
    await writeFile(path.join(folder, 'use.ts'), use);
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--module',
      'nodenext',
      '--target',
      'esnext',
      '--types',
      '',
    ];
    const compiling = promisify(execFile)('node_modules/.bin/tsc', [
      ...options,
      '--allowImportingTsExtensions',
      path.join(folder, 'use.ts'),
    ]);
    await expect(compiling).resolves.toMatchObject({ stdout: '' });
  } finally {
    await rm(folder, { recursive: true });
  }
}, 60_000);
