import { z } from 'zod';
import { MusterError } from '../core/errors.ts';
import {
  checkedSchema,
  type DocumentProblem,
  listSchema,
  type ReportProblem,
  readDocument,
  requiredMessage,
  typeError,
} from '../core/json/documents.ts';
import { duration, flag } from '../core/json/field-definitions.ts';
import type { Json } from '../core/json.ts';
import { parseClusterName } from '../core/names.ts';
import { nearestWord } from '../core/nearest-word.ts';
import { callerKeys, demandConsistentAuthentication, memberAccessKeys } from './access-keys.ts';
import { configList, configText, demandUniqueNames, integerBetween, labelText, mapping, oneOf, textLike } from './config-values.ts';
import { defaultHookTimeoutMs, defaultLimits, logLevels, secretsModes } from './defaults.ts';
import { isSecureUrl } from './host.ts';
import { foundClusterKeys } from './inventory-keys.ts';

/** The only supported version of the config file. */
export const configApiVersion = 'config.muster.dev/v1alpha1';

/** Maximum bytes of a config file. */
const maxConfigFileBytes = 1 << 20;

const nameOfCluster = typeError('a cluster name of 1 to 253 characters without control characters');
const clusterName = z
  .string(nameOfCluster)
  .min(1, nameOfCluster)
  .max(253, nameOfCluster)
  .refine((name) => parseClusterName(name) !== undefined, nameOfCluster);

const taintKeys = {
  key: configText.describe('The key of the taint.'),
  value: labelText.exactOptional().describe('Its value.'),
  effect: oneOf(['NoSchedule', 'NoExecute', 'PreferNoSchedule']).describe(
    'The effect of the taint on a propagation that does not tolerate it.',
  ),
};

const clusterKeys = {
  name: clusterName.describe('The name of the cluster in every answer.'),
  kubeconfig: configText
    .exactOptional()
    .describe('The kubeconfig of the context, relative to this file. Default: KUBECONFIG, else the home folder.'),
  context: configText.exactOptional().describe('The context to use. Default: the current one of the kubeconfig.'),
  insecure: flag.exactOptional().describe("True: the server's certificate is not verified, and the cluster always has the fault INSECURE."),
  labels: z.record(z.string(), labelText, typeError('a mapping')).readonly().exactOptional().describe('Labels to select clusters by.'),
  provider: configText.exactOptional().describe("The cloud provider. Default: that of its Nodes' providerID."),
  region: configText.exactOptional().describe("The region of the cluster. Default: that of its Nodes' topology labels."),
  zones: configList(configText).exactOptional().describe("The zones of the cluster. Default: those of its Nodes' topology labels."),
  taints: configList(mapping(taintKeys)).exactOptional().describe('Taints, which keep away propagations that do not tolerate them.'),
  namespaces: configList(configText).exactOptional().describe('Namespaces to try first if a kind may not be listed in all namespaces.'),
  secrets: oneOf(secretsModes).exactOptional().describe('Access to the Secrets of this cluster. Default: that of the file.'),
  ...memberAccessKeys,
  hub: flag
    .exactOptional()
    .describe(
      'True: this cluster keeps Propagations and their inventories. Allowed for one cluster, to which `deploy/crds` must be applied.',
    ),
};

const limitKeys = {
  bodyBytes: integerBetween({ min: 1024, max: 64 << 20 })
    .exactOptional()
    .describe(`Bytes of a request's body; ${defaultLimits.bodyBytes} by default.`),
  requestsInFlight: integerBetween({ min: 1, max: 100_000 })
    .exactOptional()
    .describe(`Operations in flight; ${defaultLimits.requestsInFlight} by default.`),
  querySeconds: integerBetween({ min: 1, max: 600 })
    .exactOptional()
    .describe(`Seconds until a query is aborted; ${defaultLimits.querySeconds} by default.`),
  mutationSeconds: integerBetween({ min: 1, max: 600 })
    .exactOptional()
    .describe(`Seconds until a mutation is aborted; what it has written stays; ${defaultLimits.mutationSeconds} by default.`),
  streams: integerBetween({ min: 1, max: 100_000 })
    .exactOptional()
    .describe(`Subscriptions read at a time; ${defaultLimits.streams} by default.`),
  answerBytes: integerBetween({ min: 64 << 10, max: 256 << 20 })
    .exactOptional()
    .describe(`Bytes of one answer, or of one message of a stream; ${defaultLimits.answerBytes} by default.`),
  unsentBytes: integerBetween({ min: 1 << 20, max: 64 * 2 ** 30 })
    .exactOptional()
    .describe(
      `Bytes that wait in all connections for their clients, before the connection with the most is closed; ${defaultLimits.unsentBytes} by default.`,
    ),
};

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';

/**
 * The name of a sensitive kind, which begins with a capital. A plural such as `widgets.example.com` is refused, because it would protect
 * no values.
 *
 * CustomResourceDefinition is refused too: the gateway reads its values, and without them there would be no custom kinds.
 */
const kindName = textLike('a kind with its group, such as Widget.example.com', {
  pattern: new RegExp(`(?!CustomResourceDefinition\\.apiextensions\\.k8s\\.io$)[A-Z][A-Za-z0-9]*(?:\\.${label})*`),
});

const groupPattern = textLike('an API group such as example.com, or all below one such as *.example.com', {
  pattern: new RegExp(`\\*|(?:\\*\\.)?${label}(?:\\.${label})*`),
});

const kindsKeys = {
  allow: configList(groupPattern)
    .exactOptional()
    .describe('API groups whose custom kinds are in the schema, such as *.example.com. Default: all.'),
  deny: configList(groupPattern).exactOptional().describe('API groups whose custom kinds are left out, even if they are allowed.'),
};

const importedSystem = oneOf(['MultiClusterResource']).describe('The system whose resources are kept in sync.');

/** The name of an object that Kubernetes allows for a service account. */
const accountName = textLike('the name of a service account', { pattern: new RegExp(`${label}(?:\\.${label})*`) });

const importerKeys = {
  system: importedSystem,
  serviceAccount: accountName.describe(
    "The service account that writes copies: the one of this name in the resource's own namespace, in each cluster.",
  ),
};

const importer = z.union(
  [importedSystem, mapping(importerKeys)],
  typeError('MultiClusterResource, or { system: MultiClusterResource, serviceAccount: NAME }'),
);

const hookKeys = {
  name: textLike('a name such as load-balancer: at most 63 small letters, digits and -', { max: 63, pattern: new RegExp(label) }).describe(
    'The name that migrations use in `traffic`.',
  ),
  url: checkedSchema(configText, checkHookUrl).describe(
    'The URL that receives the calls: https, or http to this machine. Redirects are not followed.',
  ),
  timeout: checkedSchema(duration, checkHookTimeout)
    .exactOptional()
    .describe(`The time until a call without an answer is repeated, from 1s to 60s; ${defaultHookTimeoutMs / 1_000}s by default.`),
  tokenFile: configText
    .exactOptional()
    .describe('A file with the bearer token of the calls, relative to this file. It is read at each call. Default: no token is sent.'),
  caFile: configText
    .exactOptional()
    .describe(
      'A PEM file with the authorities that the server must be signed by, relative to this file. It is read at each call. Default: those of Node.js.',
    ),
};

const backupsKeys = {
  folders: configList(configText)
    .exactOptional()
    .describe('Folders with the archives that `backup.file` of a migration may name, relative to this file. Default: no archive is read.'),
  groups: configList(configText)
    .exactOptional()
    .describe(
      'With `authentication`: the groups whose members may read archives of `folders`, such as oidc:ops. An archive has the data of Secrets. Default: nobody.',
    ),
  allowHttp: flag
    .exactOptional()
    .describe('True: backups are also downloaded over http from other machines. Default: only over https, or from this machine.'),
};

const fileKeys = {
  apiVersion: oneOf([configApiVersion]).describe('The version of this file.'),
  clusters: configList(mapping(clusterKeys))
    .exactOptional()
    .describe('The clusters of the fleet. Default: every context of the kubeconfig, under its own name.'),
  host: configText
    .exactOptional()
    .describe('The address to listen on. An address other than loopback needs `authentication`, or a token file.'),
  port: integerBetween({ min: 0, max: 65535 }).exactOptional().describe('The port to listen on. 0: any free port.'),
  metricsPort: integerBetween({ min: 0, max: 65535 })
    .exactOptional()
    .describe(
      'The port of /metrics, over plain HTTP and without authentication. 0: any free port. Default: the main port; with `authentication`, no metrics.',
    ),
  ...callerKeys,
  ...foundClusterKeys,
  allowOrigins: configList(configText)
    .exactOptional()
    .describe('Origins of web pages that may send requests, such as https://portal.example.com.'),
  tokenFile: configText
    .exactOptional()
    .describe('A file with the bearer token that every request must show. Only without `authentication`.'),
  keyFile: configText
    .exactOptional()
    .describe(
      "A file with a secret of at least 8 bytes. The key of cursors is derived from it, so gateways with the same file accept each other's cursors. Default: the token file, else a key in the state directory.",
    ),
  schemaLock: configText
    .exactOptional()
    .describe(
      'A file that remembers custom kinds, so that a cluster that is down at the start removes no type. Default: schema.json in the state directory.',
    ),
  logLevel: oneOf(logLevels).exactOptional().describe('The least severe lines to log.'),
  secrets: oneOf(secretsModes)
    .exactOptional()
    .describe('Access to Secrets: none, their metadata, or also their data, one Secret at a time.'),
  sensitiveKinds: configList(kindName)
    .exactOptional()
    .describe(
      'Kinds that are as confidential as Secrets, such as Widget.example.com. Their values are not mirrored, but read live, one object at a time.',
    ),
  kinds: mapping(kindsKeys)
    .exactOptional()
    .describe('The custom kinds in the schema. This keeps the schema small; it is not access control.'),
  federation: flag
    .exactOptional()
    .describe('True: the schema is a subgraph of Apollo Federation, with _service and _entities. Default: false.'),
  readOnly: flag
    .exactOptional()
    .describe('True: the gateway refuses every mutation, and never keeps Propagations in sync. Default: false.'),
  shutdownDelaySeconds: integerBetween({ min: 0, max: 600 })
    .exactOptional()
    .describe('Seconds between reporting "not ready" and refusing connections.'),
  importers: listSchema(importer, { max: 1 })
    .exactOptional()
    .describe(
      'Systems whose resources on the hub become Propagations, and stay in sync with them. Each is the name of a system, or a mapping with the service account that writes copies. Needs a hub.',
    ),
  hooks: listSchema(mapping(hookKeys), { max: 100 })
    .exactOptional()
    .describe('Servers that are called when a migration moves the traffic of an application. A migration names one of them.'),
  backups: mapping(backupsKeys).exactOptional().describe('Where migrations may read backups of Velero.'),
  limits: mapping(limitKeys).exactOptional().describe('Limits for requests.'),
};

/** The config file. `schema/config.schema.json` is its JSON Schema. */
export const configFile = mapping(fileKeys).meta({ title: 'Muster config file' });

/** The content of a config file, before defaults. */
export type ConfigFile = z.output<typeof configFile>;

/** One entry of `hooks`, before defaults. The timeout is in milliseconds. */
export type HookEntry = NonNullable<ConfigFile['hooks']>[number];

/** One entry of `clusters`, before defaults. */
export type ClusterEntry = NonNullable<ConfigFile['clusters']>[number];

/**
 * Reads the text of a config file: YAML 1.2, one document, no duplicate keys, at most 1 MiB.
 *
 * @param name The name of the file in messages.
 * @throws {MusterError} `BAD_INPUT` with one line: the file, the path of the key, the expected and the actual value.
 */
export async function parseConfigFile(source: string, name: string): Promise<ConfigFile> {
  const document = await readConfigYaml(source, name);
  try {
    const read = readDocument(configFile, document, { unknown: unknownConfigKey });
    if ('problems' in read) throw new MusterError('BAD_INPUT', problemLine(read.problems[0]));
    const config = read.value;
    demandUniqueNames('clusters', config.clusters ?? []);
    demandUniqueNames('hooks', config.hooks ?? []);
    demandOneHub(config.clusters ?? []);
    demandConsistentAuthentication(config);
    return config;
  } catch (error) {
    throw refusalOf(name, error);
  }
}

/**
 * Reads the only document of a YAML text. Merge keys (`<<`) are merged. A second document, duplicate keys, and more than 1 MiB are refused.
 *
 * @throws {MusterError} `BAD_INPUT` with one line: the file, the problem and its line.
 */
export async function readConfigYaml(source: string, name: string): Promise<Json> {
  if (source.length > maxConfigFileBytes) throw new MusterError('BAD_INPUT', `${name}: expected at most ${maxConfigFileBytes} bytes`);
  // Imported here, because only a gateway with a config file needs the YAML parser.
  const { parseDocument } = await import('yaml');
  const document = parseDocument(source, { prettyErrors: true, uniqueKeys: true, merge: true, logLevel: 'error' });
  const problem = document.errors[0];
  if (problem?.code === 'MULTIPLE_DOCS') throw new MusterError('BAD_INPUT', `${name}: expected one document, got several`);
  if (problem !== undefined) throw refusalOf(name, problem);
  try {
    return document.toJS({ maxAliasCount: 100 }) as Json;
  } catch (error) {
    throw refusalOf(name, error);
  }
}

function refusalOf(name: string, error: unknown): MusterError {
  const message = firstLine(error instanceof Error ? error.message : String(error));
  return new MusterError('BAD_INPUT', `${name}: ${message}`, { cause: error });
}

/** Returns the message for a key that a config file does not have, with the key that was probably meant. */
export function unknownConfigKey(name: string, names: readonly string[], path: string): string {
  const meant = nearestWord(name, names);
  const advice = meant === undefined ? `expected one of ${names.join(', ')}` : `did you mean ${path.slice(0, -name.length)}${meant}?`;
  return `unknown key ${path}; ${advice}`;
}

/** Returns one line for a problem of a config file. */
export function problemLine({ path, message }: DocumentProblem = { path: '', message: 'expected a mapping' }): string {
  if (message === requiredMessage) return `${path} is missing`;
  return message.startsWith('unknown key ') ? message : `${path === '' ? 'the file' : path}: ${message}`;
}

function demandOneHub(clusters: readonly ClusterEntry[]): void {
  const [first, second] = clusters.flatMap(({ hub }, index) => (hub === true ? [index] : []));
  if (first !== undefined && second !== undefined)
    throw new MusterError('BAD_INPUT', `clusters[${second}].hub: clusters[${first}] is the hub already`);
}

function checkHookUrl(given: string, report: ReportProblem): void {
  const url = URL.parse(given);
  if (url === null || !isSecureUrl(url)) report('expected a URL with https, or with http to this machine');
  else if (`${url.username}${url.password}` !== '') report('expected a URL without user and password: a token is read from tokenFile');
}

function checkHookTimeout(ms: number, report: ReportProblem): void {
  if (ms < 1_000 || ms > 60_000) report('expected a duration from 1s to 60s');
}

function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/:$/, '');
}
