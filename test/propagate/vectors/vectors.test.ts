import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { vectorOps } from './registry.ts';
import { runVectorFile, vectorFilesIn } from './run-vectors.ts';

const own = ['own', 'own/importers'].map((folder) => path.join(import.meta.dirname, folder));
const shared = path.join(import.meta.dirname, '../../../../shared/vectors');
const given = process.env.VECTORS_DIR === undefined ? [shared, path.join(shared, 'importers')] : [process.env.VECTORS_DIR];

describe('our own vectors', () => {
  test.each(own.flatMap(vectorFilesIn))('%s', (file) => expect(runVectorFile(file, vectorOps).failures).toEqual([]));

  test('there is one file for each that is known', () => {
    const names = own.flatMap(vectorFilesIn).map((file) => path.basename(file, '.json'));
    expect(Object.keys(vectorOps).filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe.skipIf(!given.every(existsSync))('the vectors in VECTORS_DIR', () => {
  test.each(given.filter(existsSync).flatMap(vectorFilesIn))('%s', (file) => expect(runVectorFile(file, vectorOps).failures).toEqual([]));
});
