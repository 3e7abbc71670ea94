import path from 'node:path';
import type { z } from 'zod';
import { MusterError } from '../core/errors.ts';
import { checkedSchema, listSchema, readDocument, structureSchema, typeError } from '../core/json/documents.ts';
import { anyText, clusterText, flag } from '../core/json/field-definitions.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { configApiVersion, problemLine, readConfigYaml, unknownConfigKey } from './config-file.ts';

/** A config file of Muster, made from the config of multi_resource_operator. */
export interface ConvertedConfig {
  /** The document of a config file, with its keys in the order in which they are printed. */
  readonly config: JsonObject;
  /**
   * A line for each field that Muster treats in another way than the operator, with its path. Empty if the config file does everything that
   * the operator did.
   */
  readonly warnings: readonly string[];
}

/** The config of multi_resource_operator: a text, its name, and the folder of its relative paths. */
export interface OperatorConfigSource {
  readonly text: string;
  /** The name of the file in messages. */
  readonly name: string;
  /** The absolute path of the folder that relative paths start from. */
  readonly directory: string;
}

const operatorMetadata = structureSchema({
  clusterName: clusterText,
  configPath: anyText.min(1, typeError('a path')).exactOptional(),
  insecure: flag.exactOptional(),
  isMaster: flag.exactOptional(),
});
const operatorCluster = structureSchema({ metadata: operatorMetadata });
type OperatorCluster = z.output<typeof operatorCluster>;

const clusterList = listSchema(operatorCluster, { min: 1, max: 1_000 });
const operatorConfig = structureSchema({ clusters: checkedSchema(clusterList, checkClusters) });

/**
 * Converts the config of multi_resource_operator, the operator that MultiClusterResources come from. Its main cluster becomes the hub.
 *
 * Absolute paths stay as written, and so do paths that begin with `~/`. Keys that the operator does not have are left out with a warning.
 *
 * @throws {MusterError} `BAD_INPUT` with one line, if the text is no YAML, has no clusters, a name twice or two main clusters.
 */
export async function convertOperatorConfig({ text, name, directory }: OperatorConfigSource): Promise<ConvertedConfig> {
  const warnings: string[] = [];
  const read = readDocument(operatorConfig, onlyKnown(await readConfigYaml(text, name), { keys: knownKeys, at: '', warnings }));
  if ('problems' in read) throw new MusterError('BAD_INPUT', `${name}: ${problemLine(read.problems[0])}`);
  const { clusters } = read.value;
  const converted = clusters.map(({ metadata: { clusterName, configPath, insecure, isMaster } }) => ({
    name: clusterName,
    ...(configPath === undefined ? {} : { kubeconfig: absolutePath(configPath, directory) }),
    ...(insecure === true ? { insecure } : {}),
    ...(isMaster === true ? { hub: true } : {}),
  }));
  return {
    config: { apiVersion: configApiVersion, clusters: converted, importers: ['MultiClusterResource'] },
    warnings: [...warnings, ...warningsOf(clusters)],
  };
}

function absolutePath(given: string, directory: string): string {
  return path.isAbsolute(given) || given.startsWith('~/') ? given : path.resolve(directory, given);
}

function warningsOf(clusters: readonly OperatorCluster[]): readonly string[] {
  const withoutPath = clusters.flatMap(({ metadata }, at) =>
    metadata.configPath === undefined
      ? [`clusters[${at}].metadata.configPath is missing: Muster will use KUBECONFIG or ~/.kube/config`]
      : [],
  );
  const hasMaster = clusters.some(({ metadata: { isMaster } }) => isMaster === true);
  return hasMaster
    ? withoutPath
    : [...withoutPath, 'no cluster has isMaster: set `hub: true` for the cluster with the MultiClusterResources'];
}

function checkClusters(
  clusters: readonly OperatorCluster[],
  report: (message: string, ...at: readonly (string | number)[]) => undefined,
): void {
  const names = new Map<string, number>();
  let master: number | undefined;
  for (const [at, { metadata }] of clusters.entries()) {
    const before = names.get(metadata.clusterName);
    if (before !== undefined)
      report(`${JSON.stringify(metadata.clusterName)} is already the name of clusters[${before}]`, at, 'metadata', 'clusterName');
    names.set(metadata.clusterName, at);
    if (metadata.isMaster !== true) continue;
    if (master !== undefined) report(`clusters[${master}] is the main cluster already`, at, 'metadata', 'isMaster');
    master ??= at;
  }
}

/** The keys of the operator's config, by level. `true`: a value without keys. */
type KnownKeys = { readonly [key: string]: KnownKeys | true };

const knownKeys: KnownKeys = { clusters: { metadata: { clusterName: true, configPath: true, insecure: true, isMaster: true } } };

/** Returns the value without the keys that the operator does not have, and adds a warning for each of them. */
function onlyKnown(
  value: Json,
  { keys, at, warnings }: { readonly keys: KnownKeys; readonly at: string; readonly warnings: string[] },
): Json {
  if (Array.isArray(value)) return value.map((item, index) => onlyKnown(item, { keys, at: `${at}[${index}]`, warnings }));
  if (!isJsonObject(value)) return value;
  const known: Record<string, Json> = {};
  for (const [key, member = null] of Object.entries(value)) {
    const path = at === '' ? key : `${at}.${key}`;
    const below = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (below === undefined) warnings.push(unknownConfigKey(key, Object.keys(keys), path));
    else known[key] = below === true ? member : onlyKnown(member, { keys: below, at: path, warnings });
  }
  return known;
}
