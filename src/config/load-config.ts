import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { MusterError } from '../core/errors.ts';
import { describeValue } from '../core/json.ts';
import { callerSettingsOf } from './caller-settings.ts';
import type { Config, ConfiguredCluster, ConfiguredHook, EnvironmentVariables, Flags } from './config.ts';
import type { ClusterEntry, ConfigFile, HookEntry } from './config-file.ts';
import {
  defaultAuthorization,
  defaultHookTimeoutMs,
  defaultHost,
  defaultLimits,
  defaultLogLevel,
  defaultPort,
  defaultSecrets,
  defaultShutdownDelaySeconds,
  type LogLevel,
  logLevels,
  type SecretsMode,
} from './defaults.ts';
import { isLoopback, parseOrigin } from './host.ts';
import { demandConsistentInventories, inventoriesOf, systemNamespaceOf } from './inventory-keys.ts';
import { readTraceSettings } from './trace-settings.ts';

/** The sources of settings, besides the config file. */
export interface ConfigSources {
  readonly flags: Flags;
  readonly environment: EnvironmentVariables;
  /** The folder to which relative paths of flags and variables refer. */
  readonly directory: string;
}

/**
 * Merges flags, `MUSTER_*` variables, config file and defaults. The earlier source wins.
 *
 * @throws {MusterError} `BAD_INPUT` with one line: the flag, variable, or file and key, with the expected and the actual value.
 */
export async function loadConfig({ flags, environment, directory }: ConfigSources): Promise<Config> {
  const given = mergeFlags(flags, environment);
  const configFile = given.config === undefined ? undefined : path.resolve(directory, given.config.value);
  const file: Partial<ConfigFile> = configFile === undefined ? {} : await readConfigFile(configFile);
  const base = path.dirname(configFile ?? directory);
  const fromFile = (given: string | undefined) => (given === undefined ? undefined : fromHome(given, base));
  const tokenFile = given.tokenFile === undefined ? fromFile(file.tokenFile) : path.resolve(directory, given.tokenFile.value);
  if (given.tokenFile !== undefined && file.authentication !== undefined)
    throw new MusterError('BAD_INPUT', `${given.tokenFile.name}: expected no token file with \`authentication\` in ${configFile}`);
  const hub = given.hub?.value ?? file.clusters?.find((cluster) => cluster.hub === true)?.name;
  checkFile(configFile, () => checkInventories(file, hub));
  demandMirroredHub(configFile, { ...file, hub });
  const schemaLock = given.schemaLock === undefined ? fromFile(file.schemaLock) : path.resolve(directory, given.schemaLock.value);
  const config: Config = {
    demo: given.demo,
    kubeconfig: given.kubeconfig && path.resolve(directory, given.kubeconfig.value),
    contexts: given.contexts,
    hub,
    clusters: clustersOf(file, configFile),
    importers: (file.importers ?? []).map((importer) => (typeof importer === 'string' ? { system: importer } : importer)),
    allowPrivate: file.allowPrivate ?? [],
    systemNamespace: await systemNamespaceOf(file),
    inventories: inventoriesOf(file),
    hooks: (file.hooks ?? []).map((hook) => hookOf(hook, base)),
    backups: {
      folders: (file.backups?.folders ?? []).map((folder) => fromHome(folder, base)),
      groups: file.backups?.groups ?? [],
      allowHttp: file.backups?.allowHttp ?? false,
    },
    configFile,
    host: given.host?.value ?? file.host ?? defaultHost,
    port: given.port === undefined ? (file.port ?? defaultPort) : portOf(given.port),
    metricsPort: given.metricsPort === undefined ? file.metricsPort : portOf(given.metricsPort),
    ...callerSettingsOf(file, (given) => fromHome(given, base)),
    allowOrigins: given.allowOrigins.length > 0 ? given.allowOrigins.map(originOf) : (file.allowOrigins ?? []).map(asOrigin),
    tokenFile,
    keyFile: fromFile(file.keyFile),
    schemaLock,
    logLevel: given.logLevel === undefined ? (file.logLevel ?? defaultLogLevel) : logLevelOf(given.logLevel),
    secrets: secretsOf(file),
    sensitiveKinds: file.sensitiveKinds ?? [],
    kinds: file.kinds ?? {},
    federation: given.federation ?? file.federation ?? false,
    traces: readTraceSettings(given.otlp, environment),
    readOnly: given.readOnly ?? file.readOnly ?? false,
    limits: { ...defaultLimits, ...file.limits },
    shutdownDelaySeconds: file.shutdownDelaySeconds ?? defaultShutdownDelaySeconds,
    stateDirectory: path.join(environment.XDG_STATE_HOME || path.join(environment.HOME ?? homedir(), '.local/state'), 'muster'),
    environment: { ...environment },
  };
  demandConsistent(config);
  return deeplyFrozen(config);
}

/**
 * Checks a config file as `loadConfig` does, without flags and variables. The files that it names are not read.
 *
 * @throws {MusterError} `BAD_INPUT` with one line, which begins with the file as it was given.
 */
export async function checkConfigFile(file: string, directory: string): Promise<void> {
  try {
    await loadConfig({ flags: { config: file }, environment: {}, directory });
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    const problem = error.message.replace(`${path.resolve(directory, file)}: `, '');
    throw new MusterError(error.code, `${file}: ${problem}`, { cause: error });
  }
}

/**
 * Checks the settings against each other.
 *
 * @throws {MusterError} `BAD_INPUT` with one line, if settings that are good by themselves do not fit together.
 */
function demandConsistent({ configFile, authentication, tokenFile, hub, ...config }: Config): void {
  const refuse = (message: string): never => {
    throw new MusterError('BAD_INPUT', message);
  };
  if (authentication === undefined && tokenFile === undefined && !isLoopback(config.host))
    refuse(`the host ${describeValue(config.host)} is not loopback: expected --token-file with the token that requests must show`);
  if (config.demo && (config.kubeconfig !== undefined || config.contexts.length > 0))
    refuse('--demo is the embedded fleet: expected no --kubeconfig and no --context with it');
  if (config.demo && hub !== undefined) refuse('--demo is the embedded fleet, which has a hub: expected no --hub with it');
  const expectedHub = 'set `hub: true` for a cluster, or --hub';
  if (config.importers.length > 0 && hub === undefined && !config.demo)
    refuse(`${configFile}: importers: expected a hub, which keeps their Propagations: ${expectedHub}`);
  if (authentication !== undefined && config.importers.some(({ serviceAccount }) => serviceAccount === undefined))
    refuse(
      `${configFile}: importers: with \`authentication\` expected { system: MultiClusterResource, serviceAccount: NAME }: copies are written with the rights of that account`,
    );
  if (authentication?.tokenReview !== undefined && hub === undefined && !config.demo)
    refuse(`${configFile}: authentication.tokenReview: expected a hub, which is asked about tokens: ${expectedHub}`);
  if (config.metricsPort !== undefined && config.metricsPort !== 0 && config.metricsPort === config.port)
    refuse(`${config.port} is the port of GraphQL: expected another metrics port`);
}

/**
 * Reads the `clusters` of the config file again, because the file may change while the gateway runs.
 *
 * @throws {MusterError} `BAD_INPUT` as `loadConfig` does.
 */
export async function reloadClusters(
  configFile: string,
  running: Pick<Config, 'authentication' | 'hub'>,
): Promise<readonly ConfiguredCluster[]> {
  const file = await readConfigFileAgain(configFile, running);
  demandMirroredHub(configFile, { ...file, hub: running.hub });
  return clustersOf(file, configFile);
}

/**
 * Reads the file again. A file that adds or removes `authentication` is refused, because the gateway authenticates as it did at the start, and
 * the defaults of other keys depend on it.
 */
async function readConfigFileAgain(configFile: string, { authentication }: Pick<Config, 'authentication'>): Promise<ConfigFile> {
  const file = await readConfigFile(configFile);
  if ((file.authentication === undefined) === (authentication === undefined)) return file;
  const problem = authentication === undefined ? 'expected none' : 'expected the key to stay';
  throw new MusterError('BAD_INPUT', `${configFile}: authentication: ${problem} until the gateway is started again`);
}

/** The settings about registered and found clusters that are followed while the gateway runs. */
export type FoundClusterSettings = Pick<Config, 'allowPrivate' | 'inventories'>;

/**
 * Reads `allowPrivate` and `inventories` of the config file again. `systemNamespace` is returned too, to warn about a change, which needs a
 * restart.
 *
 * @throws {MusterError} `BAD_INPUT` as `loadConfig` does.
 */
export async function reloadInventories(
  configFile: string,
  running: Pick<Config, 'authentication' | 'hub'>,
): Promise<FoundClusterSettings & Pick<Config, 'systemNamespace'>> {
  const file = await readConfigFileAgain(configFile, running);
  checkFile(configFile, () => checkInventories(file, running.hub));
  return deeplyFrozen({
    allowPrivate: file.allowPrivate ?? [],
    inventories: inventoriesOf(file),
    systemNamespace: await systemNamespaceOf(file),
  });
}

function checkInventories(file: Partial<ConfigFile>, hub: string | undefined): void {
  const clusters = (file.clusters ?? []).map(({ name }) => name);
  demandConsistentInventories(file, { clusters, hub, hasAuthentication: file.authentication !== undefined });
}

interface HubSettings {
  readonly clusters?: readonly Partial<Pick<ConfiguredCluster, 'name' | 'authorization'>>[] | undefined;
  readonly hub: string | undefined;
}

/**
 * Refuses a hub that is not mirrored: the gateway itself reads Propagations and registered clusters from its mirrors.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, with the file and the key.
 */
export function demandMirroredHub(configFile: string | undefined, { clusters = [], hub }: HubSettings): void {
  const index = clusters.findIndex(({ name, authorization }) => authorization === 'live' && name === hub);
  if (index >= 0)
    throw new MusterError('BAD_INPUT', `${configFile}: clusters[${index}].authorization: expected sar or rbac for the hub, got "live"`);
}

/** Calls a check of the settings. If it refuses them, puts the name of the config file in front of the error message. */
function checkFile(configFile: string | undefined, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error instanceof MusterError) throw new MusterError(error.code, `${configFile}: ${error.message}`);
    throw error;
  }
}

interface GivenSetting {
  /** The name of the flag or variable. */
  readonly name: string;
  readonly value: string;
}

function mergeFlags(flags: Flags, environment: EnvironmentVariables) {
  const pick = (flag: string | undefined, name: string): GivenSetting | undefined => {
    if (flag !== undefined) return { name: `--${name}`, value: notEmpty(flag, `--${name}`) };
    const variable = `MUSTER_${name.toUpperCase().replaceAll('-', '_')}`;
    const value = environment[variable];
    // Kubernetes sets MUSTER_PORT to tcp://10.0.0.1:4000 in pods next to a Service called "muster".
    if (value === undefined || value === '' || (name === 'port' && value.startsWith('tcp://'))) return undefined;
    return { name: variable, value };
  };
  const pickList = (flag: readonly string[] | undefined, name: string): readonly string[] =>
    flag !== undefined && flag.length > 0 ? flag.map((one) => notEmpty(one, `--${name}`)) : (pick(undefined, name)?.value.split(',') ?? []);
  return {
    demo: flags.demo ?? givenBoolean(pick(undefined, 'demo')) ?? false,
    kubeconfig: pick(flags.kubeconfig, 'kubeconfig'),
    contexts: pickList(flags.context, 'context'),
    hub: pick(flags.hub, 'hub'),
    config: pick(flags.config, 'config'),
    host: pick(flags.host, 'host'),
    port: pick(flags.port, 'port'),
    metricsPort: pick(flags.metricsPort, 'metrics-port'),
    allowOrigins: pickList(flags.allowOrigin, 'allow-origin'),
    tokenFile: pick(flags.tokenFile, 'token-file'),
    schemaLock: pick(flags.schemaLock, 'schema-lock'),
    federation: flags.federation ?? givenBoolean(pick(undefined, 'federation')),
    otlp: pick(flags.otlp, 'otlp'),
    readOnly: flags.readOnly ?? givenBoolean(pick(undefined, 'read-only')),
    logLevel: pick(flags.logLevel, 'log-level'),
  };
}

async function readConfigFile(file: string): Promise<ConfigFile> {
  const source = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : (error.code ?? error.message);
    throw new MusterError('BAD_INPUT', `the config file ${file} cannot be read: ${why}`, { cause: error });
  });
  // Imported here, because only a gateway with a config file needs its definition.
  const { parseConfigFile } = await import('./config-file.ts');
  return parseConfigFile(source, file);
}

function clustersOf(file: Partial<ConfigFile>, configFile: string | undefined): readonly ConfiguredCluster[] {
  const directory = path.dirname(configFile ?? '.');
  return deeplyFrozen((file.clusters ?? []).map((entry) => clusterOf(entry, directory, secretsOf(file))));
}

/**
 * Returns the access to Secrets for clusters without a setting of their own. With authentication, the default is `none`, because callers
 * have other rights than the gateway.
 */
function secretsOf({ secrets, authentication }: Partial<ConfigFile>): SecretsMode {
  return secrets ?? (authentication === undefined ? defaultSecrets : 'none');
}

function clusterOf({ kubeconfig, identity, ...entry }: ClusterEntry, directory: string, secrets: SecretsMode): ConfiguredCluster {
  return {
    ...entry,
    ...(kubeconfig === undefined ? {} : { kubeconfig: fromHome(kubeconfig, directory) }),
    insecure: entry.insecure ?? false,
    labels: entry.labels ?? {},
    namespaces: entry.namespaces ?? [],
    secrets: entry.secrets ?? secrets,
    authorization: entry.authorization ?? defaultAuthorization,
    ...(identity === undefined ? {} : { identity: { userPrefix: identity.userPrefix ?? '', groupPrefix: identity.groupPrefix ?? '' } }),
  };
}

function hookOf({ name, url, timeout = defaultHookTimeoutMs, tokenFile, caFile }: HookEntry, directory: string): ConfiguredHook {
  return {
    ...{ name, url, timeoutMs: timeout },
    tokenFile: tokenFile && fromHome(tokenFile, directory),
    caFile: caFile && fromHome(caFile, directory),
  };
}

/** Returns an absolute path. Expands `~/` to the home folder, because no shell does so in a config file. */
function fromHome(given: string, directory: string): string {
  return given.startsWith('~/') ? path.join(homedir(), given.slice(2)) : path.resolve(directory, given);
}

function notEmpty(value: string, name: string): string {
  if (value === '') throw new MusterError('BAD_INPUT', `${name}: expected a value, got empty text`);
  return value;
}

function givenBoolean(given: GivenSetting | undefined): boolean | undefined {
  if (given === undefined) return undefined;
  if (given.value === 'false' || given.value === '0') return false;
  if (given.value === 'true' || given.value === '1') return true;
  throw new MusterError('BAD_INPUT', `${given.name}: expected true or false, got ${describeValue(given.value)}`);
}

function portOf({ name: by, value }: GivenSetting): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (port >= 0 && port <= 65535) return port;
  throw new MusterError('BAD_INPUT', `${by}: expected a port from 0 to 65535, got ${describeValue(value)}`);
}

function logLevelOf({ name: by, value }: GivenSetting): LogLevel {
  const level = logLevels.find((known) => known === value);
  if (level !== undefined) return level;
  throw new MusterError('BAD_INPUT', `${by}: expected ${logLevels.join(', ')}, got ${describeValue(value)}`);
}

function originOf(value: string): string {
  return parseOrigin(value) ?? refuseOrigin('--allow-origin', value);
}

function asOrigin(value: string, index: number): string {
  return parseOrigin(value) ?? refuseOrigin(`allowOrigins[${index}]`, value);
}

function refuseOrigin(by: string, value: string): never {
  throw new MusterError('BAD_INPUT', `${by}: expected an origin such as https://portal.example.com, got ${describeValue(value)}`);
}

function deeplyFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(Object.freeze(value))) deeplyFrozen(part);
  return value;
}
