import { MusterError } from '../core/errors.ts';
import { clusterName } from '../core/names.ts';
import { defaultLimits, logLevels, secretsModes } from './defaults.ts';
import {
  flag,
  integer,
  type JsonSchema,
  labelText,
  listOf,
  mapOf,
  mapping,
  oneOf,
  optional,
  required,
  type Shape,
  text,
  textLike,
  type ValuesOf,
} from './shape.ts';

/** The only version of the config file there is. */
export const configApiVersion = 'config.muster.dev/v1alpha1';

/** Bytes of a config file. */
export const maxConfigFileBytes = 1 << 20;

const clusterNameText: Shape<string> = {
  read: (value, path) => {
    try {
      return clusterName(text.read(value, path));
    } catch (error) {
      if (error instanceof MusterError && !error.message.startsWith(path)) throw new MusterError('BAD_INPUT', `${path}: ${error.message}`);
      throw error;
    }
  },
  schema: { type: 'string', minLength: 1, maxLength: 253 },
};

const taintKeys = {
  key: required(text, 'The key of the taint.'),
  value: optional(labelText, 'Its value.'),
  effect: required(oneOf(['NoSchedule', 'NoExecute', 'PreferNoSchedule']), 'What it does to a propagation that does not tolerate it.'),
};

const clusterKeys = {
  name: required(clusterNameText, 'What the cluster is called in every answer.'),
  kubeconfig: optional(text, 'The kubeconfig to take the context from, relative to this file; else the usual one.'),
  context: optional(text, 'The context to use; else the current one of the kubeconfig.'),
  insecure: optional(flag, "True: the server's certificate is not verified, and the cluster has a standing fault INSECURE."),
  labels: optional(mapOf(labelText), 'Labels to select clusters by.'),
  provider: optional(text, "Who runs it; else what its Nodes' providerID says."),
  region: optional(text, "Its region; else what its Nodes' topology labels say."),
  zones: optional(listOf(text), "Its zones; else what its Nodes' topology labels say."),
  taints: optional(listOf(mapping(taintKeys)), 'What keeps a propagation away that does not tolerate it.'),
  namespaces: optional(listOf(text), 'Namespaces to try first where a kind may not be listed in all of them.'),
  secrets: optional(oneOf(secretsModes), 'What may be had of Secrets of this cluster.'),
  hub: optional(flag, 'True: it keeps Propagations and their inventories. At most one cluster; `deploy/crds` must be applied to it.'),
};

const limitKeys = {
  bodyBytes: optional(integer({ min: 1024, max: 64 << 20 }), `Bytes of a request's body; ${defaultLimits.bodyBytes} by default.`),
  requestsInFlight: optional(integer({ min: 1, max: 100_000 }), `Operations in flight; ${defaultLimits.requestsInFlight} by default.`),
  querySeconds: optional(integer({ min: 1, max: 600 }), `Seconds until a query is aborted; ${defaultLimits.querySeconds} by default.`),
  mutationSeconds: optional(
    integer({ min: 1, max: 600 }),
    `Seconds until a mutation is aborted; what it has written stays; ${defaultLimits.mutationSeconds} by default.`,
  ),
  streams: optional(integer({ min: 1, max: 100_000 }), `Subscriptions read at a time; ${defaultLimits.streams} by default.`),
  answerBytes: optional(
    integer({ min: 64 << 10, max: 256 << 20 }),
    `Bytes of one answer, or of one message of a stream; ${defaultLimits.answerBytes} by default.`,
  ),
  unsentBytes: optional(
    integer({ min: 1 << 20, max: 64 * 2 ** 30 }),
    `Bytes that wait in all connections for their clients, before the connection with the most is closed; ${defaultLimits.unsentBytes} by default.`,
  ),
};

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';

/**
 * With a capital: the plural of a kind (`widgets.example.com`) would never be the name of one, and so guard nothing. What defines custom
 * kinds is read by its values: without them there would be none.
 */
const kindName = textLike(
  new RegExp(`(?!CustomResourceDefinition\\.apiextensions\\.k8s\\.io$)[A-Z][A-Za-z0-9]*(?:\\.${label})*`),
  'a kind with its group, such as Widget.example.com',
);

const groupPattern = textLike(
  new RegExp(`\\*|(?:\\*\\.)?${label}(?:\\.${label})*`),
  'an API group such as example.com, or all below one such as *.example.com',
);

const kindsKeys = {
  allow: optional(listOf(groupPattern), 'API groups whose custom kinds belong into the schema, such as *.example.com; absent, all.'),
  deny: optional(listOf(groupPattern), 'API groups whose custom kinds are left out, whatever is allowed.'),
};

const fileKeys = {
  apiVersion: required(oneOf([configApiVersion]), 'The version of this file.'),
  clusters: optional(
    listOf(mapping(clusterKeys)),
    'The clusters of the fleet. Absent: every context of the kubeconfig is a cluster of that name.',
  ),
  host: optional(text, 'The address to listen on; other than loopback only with a token file.'),
  port: optional(integer({ min: 0, max: 65535 }), 'The port to listen on; 0 takes any that is free.'),
  allowOrigins: optional(listOf(text), 'Origins of web pages that may ask, such as https://portal.example.com.'),
  tokenFile: optional(text, 'A file with the bearer token that every request must show.'),
  schemaLock: optional(
    text,
    'A file that remembers custom kinds, so that a cluster that is down at the start takes no type away; else schema.json in the state directory.',
  ),
  logLevel: optional(oneOf(logLevels), 'The least severe lines to log.'),
  secrets: optional(oneOf(secretsModes), 'What may be had of Secrets: nothing, their metadata, or also their data one at a time.'),
  sensitiveKinds: optional(
    listOf(kindName),
    'Kinds to be treated as Secrets are, such as Widget.example.com: mirrored without their values, which are read live, one at a time.',
  ),
  kinds: optional(mapping(kindsKeys), 'Which custom kinds the schema has. It keeps the schema small; it is no permission.'),
  shutdownDelaySeconds: optional(integer({ min: 0, max: 600 }), 'Seconds between telling "not ready" and the end of accepting.'),
  limits: optional(mapping(limitKeys), 'Bounds of what one caller may ask.'),
};

const file = mapping(fileKeys);

/** A config file as it was written. */
export type ConfigFile = ValuesOf<typeof fileKeys>;

/** One entry of `clusters` as it was written. */
export type ClusterEntry = ValuesOf<typeof clusterKeys>;

/** The JSON Schema of the config file: `schema/config.schema.json` is its text. */
export const configFileSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Muster config file',
  ...file.schema,
};

/**
 * Reads the text of a config file: YAML 1.2, one document, no duplicate keys, at most 1 MiB.
 *
 * @param name What messages call the file.
 * @throws {MusterError} `BAD_INPUT` with one line: the file, the path of the key, what was expected and what came.
 */
export async function parseConfigFile(source: string, name: string): Promise<ConfigFile> {
  if (source.length > maxConfigFileBytes) throw new MusterError('BAD_INPUT', `${name}: expected at most ${maxConfigFileBytes} bytes`);
  // Only who has a config file pays for the YAML parser.
  const { parseDocument } = await import('yaml');
  const document = parseDocument(source, { prettyErrors: true, uniqueKeys: true, logLevel: 'silent' });
  const problem = document.errors[0];
  if (problem !== undefined) throw new MusterError('BAD_INPUT', `${name}: ${firstLine(problem.message)}`);
  try {
    const config = file.read(document.toJS({ maxAliasCount: 100 }), '');
    demandUniqueNames(config.clusters ?? []);
    demandOneHub(config.clusters ?? []);
    return config;
  } catch (error) {
    throw new MusterError('BAD_INPUT', `${name}: ${firstLine(error instanceof Error ? error.message : String(error))}`, { cause: error });
  }
}

function demandUniqueNames(clusters: readonly ClusterEntry[]): void {
  const seen = new Map<string, number>();
  for (const [place, { name }] of clusters.entries()) {
    const before = seen.get(name);
    if (before !== undefined)
      throw new MusterError('BAD_INPUT', `clusters[${place}].name: ${JSON.stringify(name)} is already the name of clusters[${before}]`);
    seen.set(name, place);
  }
}

function demandOneHub(clusters: readonly ClusterEntry[]): void {
  const [first, second] = clusters.flatMap(({ hub }, place) => (hub === true ? [place] : []));
  if (first !== undefined && second !== undefined)
    throw new MusterError('BAD_INPUT', `clusters[${second}].hub: clusters[${first}] is the hub already`);
}

function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/:$/, '');
}
