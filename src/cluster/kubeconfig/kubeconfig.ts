import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { MusterError } from '../../core/errors.ts';
import { clusterName, parseClusterName } from '../../core/names.ts';
import type { Endpoint, ServerTrust } from '../endpoint.ts';
import { createEntryReader, EntryProblem, type EntryReader } from './entry-reader.ts';
import { type KubeconfigEntry, type MergedKubeconfig, readKubeconfigFiles } from './kubeconfig-files.ts';
import { readUser } from './kubeconfig-user.ts';
import { type ProcessEnvironment, proxyFor } from './proxy-choice.ts';

/** One context: its endpoint, or the reason why it cannot be used. */
export type KubeconfigContext =
  | { readonly name: string; readonly result: 'usable'; readonly endpoint: Endpoint }
  /** `problem` has the expected and the actual value, with the file and the path of the key. */
  | { readonly name: string; readonly result: 'broken'; readonly problem: string };

/** The kubeconfig files merged by kubectl's rules: the first file that sets a value wins. */
export interface Kubeconfig {
  /** The files that were read, in order. For an in-cluster configuration: the file of the pod's token. */
  readonly paths: readonly string[];
  /** `named`: by flag or KUBECONFIG. `home`: `~/.kube/config`. `inCluster`: the service account of the gateway's pod. */
  readonly origin: 'named' | 'home' | 'inCluster';
  readonly currentContext?: string;
  /** The contexts of all files, in the order of the files. */
  readonly contexts: readonly KubeconfigContext[];
}

export interface KubeconfigQuery {
  /** The value of `--kubeconfig`. Only this file is read then. */
  readonly file?: string | undefined;
  /** The environment of the process, for `KUBECONFIG`, `HOME`, the proxies and the plugins. */
  readonly environment: ProcessEnvironment;
  /** The folder of the pod's service account. Default: the path that Kubernetes uses. */
  readonly serviceAccountFolder?: string;
}

/**
 * Finds and reads the operator's kubeconfig: the named file, else the files of `KUBECONFIG`, else `~/.kube/config`, else the service
 * account of the gateway's pod. Undefined if none of these exists.
 *
 * A broken entry affects only the contexts that use it. Tokens and certificates in other files are not read yet, and no plugin runs.
 *
 * @throws {MusterError} `BAD_INPUT`, one line with the file: it was named but does not exist, or it is not a kubeconfig.
 */
export async function loadKubeconfig(query: KubeconfigQuery): Promise<Kubeconfig | undefined> {
  const { file, environment } = query;
  if (file !== undefined) return kubeconfigOf(await readKubeconfigFiles([path.resolve(file)], 'refuse'), 'named', environment);
  const named = (environment.KUBECONFIG ?? '').split(path.delimiter).filter((name) => name !== '');
  if (named.length > 0) {
    const text = await readKubeconfigFiles(
      named.map((name) => path.resolve(name)),
      named.length === 1 ? 'refuse' : 'skip',
    );
    if (text.paths.length === 0)
      throw new MusterError('BAD_INPUT', `expected a kubeconfig in KUBECONFIG: none of ${named.join(', ')} exists`);
    return kubeconfigOf(text, 'named', environment);
  }
  const home = environment.HOME || environment.USERPROFILE;
  const text = home === undefined || home === '' ? undefined : await readKubeconfigFiles([path.join(home, '.kube', 'config')], 'skip');
  if (text !== undefined && text.paths.length > 0) return kubeconfigOf(text, 'home', environment);
  return await readInCluster(query);
}

function kubeconfigOf(text: MergedKubeconfig, origin: 'named' | 'home', environment: ProcessEnvironment): Kubeconfig {
  return {
    paths: text.paths,
    origin,
    contexts: [...text.contexts.values()].map((context) => contextOf(context, text, environment)),
    ...(text.currentContext === undefined ? {} : { currentContext: text.currentContext }),
  };
}

function contextOf(entry: KubeconfigEntry, text: MergedKubeconfig, environment: ProcessEnvironment): KubeconfigContext {
  try {
    return { name: entry.name, result: 'usable', endpoint: endpointOf(entry, text, environment) };
  } catch (error) {
    if (!(error instanceof EntryProblem)) throw error;
    return { name: entry.name, result: 'broken', problem: error.message };
  }
}

function endpointOf(entry: KubeconfigEntry, text: MergedKubeconfig, environment: ProcessEnvironment): Endpoint {
  const name = parseClusterName(entry.name);
  if (name === undefined) throw new EntryProblem(`${entry.where}: expected a name of 1 to 253 characters without control characters`);
  const context = createEntryReader(entry);
  const cluster = createEntryReader(findEntry(context, 'cluster', text.clusters));
  const user = context.text('user') === undefined ? undefined : readUser(findEntry(context, 'user', text.users), environment);
  const server = serverOf(cluster);
  const tlsServerName = cluster.text('tls-server-name');
  const proxyUrl = proxyOf(cluster) ?? proxyFor(server, environment);
  const namespace = context.text('namespace');
  return {
    name,
    server: server.href.replace(/\/+$/, ''),
    trust: trustOf(cluster),
    credentials: { type: 'none' },
    ...user,
    compression: cluster.flag('disable-compression') ? 'off' : 'auto',
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

function findEntry(context: EntryReader, key: 'cluster' | 'user', entries: ReadonlyMap<string, KubeconfigEntry>): KubeconfigEntry {
  const name = context.text(key);
  const found = name === undefined ? undefined : entries.get(name);
  if (found !== undefined) return found;
  throw context.problem(key, name === undefined ? `expected the name of a ${key}` : `there is no ${key} ${JSON.stringify(name)}`);
}

function serverOf(cluster: EntryReader): URL {
  const text = cluster.text('server');
  if (text === undefined) throw cluster.problem('server', 'expected the URL of an API server');
  const server = URL.parse(text);
  if (server === null || !/^https?:$/.test(server.protocol)) throw cluster.problem('server', 'expected an https URL');
  if (server.username !== '' || server.password !== '' || server.search !== '' || server.hash !== '') {
    throw cluster.problem('server', 'expected an https URL without user, query and fragment');
  }
  if (server.protocol === 'http:' && !isLoopback(server.hostname))
    throw cluster.problem('server', 'expected https: http is allowed to loopback only');
  return server;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}

function trustOf(cluster: EntryReader): ServerTrust {
  const certificates = cluster.material('certificate-authority');
  if (!cluster.flag('insecure-skip-tls-verify'))
    return certificates === undefined ? { type: 'system' } : { type: 'authority', certificates };
  if (certificates === undefined) return { type: 'unverified' };
  throw cluster.problem('insecure-skip-tls-verify', 'expected either this or a certificate authority, got both');
}

function proxyOf(cluster: EntryReader): string | undefined {
  const text = cluster.text('proxy-url');
  if (text === undefined) return undefined;
  const proxy = URL.parse(text);
  if (proxy === null || !/^https?:$/.test(proxy.protocol)) throw cluster.problem('proxy-url', 'expected an http or https URL');
  return proxy.href;
}

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Reads the configuration that Kubernetes gives every pod. Undefined outside of a pod. The network is close, so answers are not compressed.
 */
async function readInCluster({ environment, serviceAccountFolder = serviceAccount }: KubeconfigQuery): Promise<Kubeconfig | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  const token = path.join(serviceAccountFolder, 'token');
  if (!host || !port || (await readTextIfExists(token)) === undefined) return undefined;
  const namespace = (await readTextIfExists(path.join(serviceAccountFolder, 'namespace')))?.trim();
  const name = 'in-cluster';
  const endpoint: Endpoint = {
    name: clusterName(name),
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    trust: { type: 'authority', certificates: { type: 'file', path: path.join(serviceAccountFolder, 'ca.crt') } },
    credentials: { type: 'tokenFile', path: token },
    compression: 'off',
    ...(namespace ? { namespace } : {}),
  };
  return { paths: [token], origin: 'inCluster', currentContext: name, contexts: [{ name, result: 'usable', endpoint }] };
}

async function readTextIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}
