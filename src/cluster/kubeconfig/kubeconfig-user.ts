import type { ClientCertificate, Credentials, ExecPlugin, Impersonation } from '../endpoint.ts';
import { createEntryReader, type EntryReader } from './entry-reader.ts';
import type { KubeconfigEntry } from './kubeconfig-files.ts';
import type { ProcessEnvironment } from './proxy-choice.ts';

/** The content of one entry of `users`. */
export interface KubeconfigUser {
  readonly credentials: Credentials;
  readonly clientCertificate?: ClientCertificate;
  readonly impersonation?: Impersonation;
}

const execVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/**
 * Reads the credentials of one user. If the user has several, the first one in the order of client-go is used: tokenFile, token, basic,
 * exec, auth-provider.
 *
 * @param environment The environment of an `exec` plugin, which the `env` of the entry overrides.
 * @throws {EntryProblem} with the file and path of a value that cannot be used.
 */
export function readUser(entry: KubeconfigEntry, environment: ProcessEnvironment): KubeconfigUser {
  const user = createEntryReader(entry);
  const certificate = user.material('client-certificate');
  const key = user.material('client-key');
  if ((certificate === undefined) !== (key === undefined)) {
    throw user.problem(
      certificate === undefined ? 'client-certificate' : 'client-key',
      'expected a client certificate and its key, got one of them',
    );
  }
  const impersonation = readImpersonation(user);
  return {
    credentials: readCredentials(user, environment),
    ...(certificate === undefined || key === undefined ? {} : { clientCertificate: { certificate, key } }),
    ...(impersonation === undefined ? {} : { impersonation }),
  };
}

function readCredentials(user: EntryReader, environment: ProcessEnvironment): Credentials {
  const file = user.text('tokenFile');
  if (file !== undefined) return { type: 'tokenFile', path: user.pathOf(file) };
  const token = user.text('token');
  if (token !== undefined) return { type: 'token', token };
  const username = user.text('username');
  if (username !== undefined) return { type: 'basic', username, password: user.text('password') ?? '' };
  const exec = user.object('exec');
  if (exec !== undefined) return { type: 'exec', plugin: readPlugin(exec, environment) };
  const provider = user.object('auth-provider');
  if (provider === undefined) return { type: 'none' };
  if (provider.text('name') !== 'oidc')
    throw provider.problem('name', 'expected oidc: the others left Kubernetes in 1.26, use an exec plugin');
  const settings = provider.object('config');
  return { type: 'oidc', settings: Object.fromEntries((settings?.keys ?? []).map((key) => [key, settings?.text(key) ?? ''])) };
}

function readPlugin(exec: EntryReader, environment: ProcessEnvironment): ExecPlugin {
  const command = exec.text('command');
  if (command === undefined) throw exec.problem('command', 'expected a command');
  const apiVersion = exec.text('apiVersion') ?? '';
  if (!execVersions.includes(apiVersion)) throw exec.problem('apiVersion', `expected ${execVersions.join(' or ')}`);
  if (exec.text('interactiveMode') === 'Always')
    throw exec.problem('interactiveMode', 'expected Never or IfAvailable: there is no terminal to ask on');
  const own = exec.objects('env').map((variable) => [variable.text('name') ?? '', variable.text('value') ?? ''] as const);
  const installHint = exec.text('installHint');
  return {
    apiVersion,
    // By kubectl's rule a bare name is looked up in PATH. Any other path starts at the folder of the kubeconfig.
    command: /[\\/]/.test(command) ? exec.pathOf(command) : command,
    args: exec.texts('args'),
    environment: { ...definedOf(environment), ...Object.fromEntries(own) },
    provideClusterInfo: exec.flag('provideClusterInfo'),
    ...(installHint === undefined ? {} : { installHint }),
  };
}

function readImpersonation(user: EntryReader): Impersonation | undefined {
  const name = user.text('as');
  const uid = user.text('as-uid');
  const groups = user.texts('as-groups');
  const extras = user.object('as-user-extra');
  if (name === undefined) {
    if (uid !== undefined || groups.length > 0 || extras !== undefined)
      throw user.problem('as', 'expected a user in addition to as-uid, as-groups or as-user-extra');
    return undefined;
  }
  const extra = Object.fromEntries((extras?.keys ?? []).map((key) => [key, extras?.texts(key) ?? []]));
  for (const text of [name, uid ?? '', ...groups, ...Object.values(extra).flat()]) {
    if (/\p{Cc}/u.test(text)) throw user.problem('as', 'expected names without control characters');
  }
  return { user: name, groups, extra, ...(uid === undefined ? {} : { uid }) };
}

function definedOf(environment: ProcessEnvironment): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter((pair): pair is [string, string] => pair[1] !== undefined));
}
