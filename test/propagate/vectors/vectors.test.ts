import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { vectorOps } from './registry.ts';
import { runVectorFile, vectorFilesIn } from './run-vectors.ts';

const own = path.join(import.meta.dirname, 'own');
const given = process.env.VECTORS_DIR ?? path.join(import.meta.dirname, '../../../../shared/vectors');

describe('our own vectors', () => {
  test.each(vectorFilesIn(own))('%s', (file) => expect(runVectorFile(file, vectorOps).failures).toEqual([]));

  test('there is one file for each that is known', () => {
    const names = vectorFilesIn(own).map((file) => path.basename(file, '.json'));
    expect(Object.keys(vectorOps).filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe.skipIf(!existsSync(given))('the vectors in VECTORS_DIR', () => {
  test.each(existsSync(given) ? vectorFilesIn(given) : [])('%s', (file) => expect(runVectorFile(file, vectorOps).failures).toEqual([]));
});
