import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../core/clock.ts';
import { isJsonObject, type Json, tryParseJson } from '../../core/json.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import { type ClusterFailure, clusterFailure } from '../cluster-failure.ts';
import type { ExecPlugin } from '../endpoint.ts';

const defaultDeadlineMs = 60_000;
const maxOutputBytes = 64 * 1024;
const maxShownBytes = 512;

/** The `status` of the ExecCredential that a plugin printed. */
interface ExecCredential {
  readonly token?: string;
  readonly clientCertificate?: Uint8Array;
  readonly clientKey?: Uint8Array;
  /** Expiry in Unix milliseconds. Undefined: valid until a 401. */
  readonly expiresMs?: number;
}

export type ExecOutcome =
  | { readonly type: 'credential'; readonly credential: ExecCredential }
  | { readonly type: 'failed'; readonly failure: ClusterFailure };

/** The cluster that needs the credential. A plugin with `provideClusterInfo` receives it. */
export interface ExecCluster {
  readonly server: string;
  readonly tlsServerName?: string;
  readonly insecure: boolean;
  readonly authority?: Uint8Array;
  readonly proxyUrl?: string;
}

/** Plugins of one provider, or of the operator's kubeconfigs, at a time. Otherwise a large fleet would start a hundred interpreters at once. */
const pluginsAtOnce = 2;

/** The queues with plugins, by provider. A provider that hangs holds up only its own clusters. */
const queues = new Map<string | undefined, { readonly limit: ConcurrencyLimit; users: number }>();

async function queued<T>(provider: string | undefined, run: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const queue = queues.get(provider) ?? { limit: createConcurrencyLimit(pluginsAtOnce), users: 0 };
  queues.set(provider, queue);
  queue.users += 1;
  try {
    return await queue.limit.run(run, signal);
  } finally {
    queue.users -= 1;
    if (queue.users === 0) queues.delete(provider);
  }
}

/**
 * Runs an `exec` plugin by kubectl's contract, without a shell and without a terminal.
 *
 * The plugin is killed after its deadline, by default 60 s, if it writes more than 64 KiB, or when the signal aborts. The message of a failure has the beginning
 * of stderr and never any output of stdout.
 */
export async function runExecPlugin(
  plugin: ExecPlugin,
  { cluster, clock }: { readonly cluster: ExecCluster; readonly clock: Clock },
  signal: AbortSignal,
): Promise<ExecOutcome> {
  const info = JSON.stringify({
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster: clusterInfo(cluster, plugin.config) } : {}) },
  });
  const ran = await queued(plugin.provider, () => runPlugin(plugin, { info, clock }, signal), signal);
  if (ran === undefined) return failedPlugin('was ended', '');
  if (ran.result !== 'exited') return failedPlugin(ran.why, plugin.isQuiet === true ? '' : ran.stderr, ran.code);
  return readCredential(ran.stdout, plugin);
}

type PluginRun =
  | { readonly result: 'exited'; readonly stdout: string }
  | { readonly result: 'failed'; readonly why: string; readonly stderr: string; readonly code?: 'TIMED_OUT' };

function runPlugin(
  plugin: ExecPlugin,
  { info, clock }: { readonly info: string; readonly clock: Clock },
  signal: AbortSignal,
): Promise<PluginRun> {
  return new Promise((resolve) => {
    const child = spawnSafely(plugin, info);
    if (child === undefined) return resolve({ result: 'failed', why: 'could not be started', stderr: '' });
    const over = new AbortController();
    const out: Buffer[] = [];
    const stderrChunks: Buffer[] = [];
    let outBytes = 0;
    let stderrBytes = 0;
    const finish = (ran: PluginRun) => {
      if (over.signal.aborted) return;
      over.abort();
      signal.removeEventListener('abort', aborted);
      resolve(ran);
    };
    const fail = (why: string, code?: 'TIMED_OUT') => {
      killWithChildren(child, plugin);
      finish({ result: 'failed', why, stderr: Buffer.concat(stderrChunks).toString('utf8'), ...(code && { code }) });
    };
    const aborted = () => fail('was ended');
    child.stdout.on('data', (chunk: Buffer) => {
      outBytes += chunk.length;
      if (outBytes > maxOutputBytes) return fail(`wrote more than ${maxOutputBytes / 1024} KiB`);
      out.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderrBytes < maxShownBytes) stderrChunks.push(chunk.subarray(0, maxShownBytes - stderrBytes));
      stderrBytes += chunk.length;
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      const hint = plugin.installHint === undefined ? '' : ` (${plugin.installHint.slice(0, 200)})`;
      fail(error.code === 'ENOENT' ? `was not found${hint}` : `could not be started${hint}`);
    });
    child.on('close', (code, killedBy) => {
      if (code === 0) finish({ result: 'exited', stdout: Buffer.concat(out).toString('utf8') });
      else fail(code === null ? `was ended by ${killedBy ?? 'a signal'}` : `ended with exit code ${code}`);
    });
    const { deadlineMs = defaultDeadlineMs } = plugin;
    void clock.sleep(deadlineMs, over.signal).then(() => fail(`did not answer within ${deadlineMs / 1_000} s`, 'TIMED_OUT'));
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}

/**
 * Starts the plugin. Undefined if the operating system refuses at once, so that `spawn` throws, such as for an environment that is too long (E2BIG).
 */
function spawnSafely(plugin: ExecPlugin, info: string) {
  const { command, args, environment } = plugin;
  try {
    return spawn(command, [...args], {
      env: { ...environment, KUBERNETES_EXEC_INFO: info },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      // A process group of its own, so that the processes that a script has started can be killed with it.
      detached: hasOwnGroup(plugin),
    });
  } catch {
    return undefined;
  }
}

/** True for plugins of providers. A plugin of the operator's kubeconfig stays in the group of the terminal, so that Ctrl+C ends it too. */
function hasOwnGroup({ provider }: ExecPlugin): boolean {
  return provider !== undefined && process.platform !== 'win32';
}

function killWithChildren(child: ChildProcess, plugin: ExecPlugin): void {
  try {
    if (hasOwnGroup(plugin) && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // All processes of the group have ended already.
  }
}

function readCredential(text: string, plugin: ExecPlugin): ExecOutcome {
  const answer = tryParseJson(text);
  if (!isJsonObject(answer) || answer.kind !== 'ExecCredential') return failedPlugin('wrote no ExecCredential', '');
  if (answer.apiVersion !== plugin.apiVersion)
    return failedPlugin(`wrote an ExecCredential of another version than the requested ${plugin.apiVersion}`, '');
  const status = isJsonObject(answer.status) ? answer.status : {};
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = status;
  const expiresMs = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.NaN;
  const pair = typeof certificate === 'string' && typeof key === 'string' && certificate !== '' && key !== '';
  if ((typeof token !== 'string' || token === '') && !pair)
    return failedPlugin('wrote an ExecCredential with neither token nor certificate', '');
  return {
    type: 'credential',
    credential: {
      ...(typeof token === 'string' && token !== '' ? { token } : {}),
      ...(pair ? { clientCertificate: Buffer.from(certificate), clientKey: Buffer.from(key) } : {}),
      ...(Number.isNaN(expiresMs) ? {} : { expiresMs }),
    },
  };
}

function failedPlugin(why: string, stderr: string, code: 'UNAUTHENTICATED' | 'TIMED_OUT' = 'UNAUTHENTICATED'): ExecOutcome {
  const stderrText = stderr.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return {
    type: 'failed',
    failure: clusterFailure(code, `the exec plugin ${why}${stderrText === '' ? '' : `: ${stderrText}`}`),
  };
}

function clusterInfo({ server, tlsServerName, insecure, authority, proxyUrl }: ExecCluster, config: Json = null): Json {
  return {
    server,
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
    ...(insecure ? { 'insecure-skip-tls-verify': true } : {}),
    ...(authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
    config,
  };
}
