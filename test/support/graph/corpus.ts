import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import type { Model } from '../../../src/model/model.ts';
import { parseModel } from '../../../src/model/model-document.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const corpus = path.resolve(root, '../shared/data');

/** CustomResourceDefinitions of real projects, if the folder next to the repository has them. Undefined: skip the test. */
export const corpusDefinitions: readonly KubernetesObject[] | undefined = readCorpus('crds');

/** Definitions that API servers of two releases served at `/openapi/v2`, by version. Undefined: skip the test. */
export const corpusOpenApi: ReadonlyMap<string, JsonObject> | undefined = readOpenApi();

/** The committed model of the built-in kinds. */
export function committedModel(): Model {
  return parseModel(JSON.parse(committedModelText()));
}

/** The text of the committed model's file. */
export function committedModelText(): string {
  return readFileSync(path.join(root, 'schema/kubernetes.json'), 'utf8');
}

/** Reads a CustomResourceDefinition of `test/model/fixtures`. */
export function fixtureDefinition(name: string): KubernetesObject {
  return parse(readFileSync(path.join(root, `test/model/fixtures/${name}.yaml`), 'utf8')) as KubernetesObject;
}

function readCorpus(folder: string): readonly KubernetesObject[] | undefined {
  const files = path.join(corpus, folder);
  if (!existsSync(files)) return undefined;
  return readdirSync(files)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(path.join(files, file), 'utf8')) as KubernetesObject);
}

function readOpenApi(): ReadonlyMap<string, JsonObject> | undefined {
  const files = path.join(corpus, 'openapi');
  if (!existsSync(files)) return undefined;
  return new Map(
    readdirSync(files).map((file) => {
      const { definitions } = JSON.parse(readFileSync(path.join(files, file), 'utf8')) as { readonly definitions: JsonObject };
      return [file.replace(/\.json$/, ''), definitions];
    }),
  );
}
