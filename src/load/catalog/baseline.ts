import { readFile } from 'node:fs/promises';
import type { Model } from '../../model/model.ts';
import { parseModel } from '../../model/model-document.ts';

/** Reads the model of the built-in kinds from `schema/kubernetes.json`, which is part of the package. */
export async function readBaseline(): Promise<Model> {
  return parseModel(JSON.parse(await readFile(new URL('../../../schema/kubernetes.json', import.meta.url), 'utf8')));
}
