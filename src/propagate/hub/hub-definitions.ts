import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { invariant } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { isKubernetesObject, type KubernetesObject } from '../../core/objects.ts';

const files = ['propagations.yaml', 'clustershares.yaml'];

/** The definitions of our resources, as `deploy/crds` has them: for a hub that is embedded. */
export function hubDefinitions(): Promise<readonly KubernetesObject[]> {
  return Promise.all(
    files.map(async (file) => {
      const definition = parse(await readFile(new URL(`../../../deploy/crds/${file}`, import.meta.url), 'utf8')) as Json;
      invariant(isKubernetesObject(definition), `expected a definition in deploy/crds/${file}`);
      return definition;
    }),
  );
}
