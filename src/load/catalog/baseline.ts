import { readFile } from 'node:fs/promises';
import type { Model } from '../../model/model.ts';
import { parseModel } from '../../model/model-document.ts';

/** The model of the built-in kinds, as it is delivered: `schema/kubernetes.json`. */
export async function readBaseline(): Promise<Model> {
  return parseModel(JSON.parse(await readFile(new URL('../../../schema/kubernetes.json', import.meta.url), 'utf8')));
}
