import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface GatewayProcess {
  /** Such as `http://127.0.0.1:40123/graphql`. */
  readonly url: string;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
}

interface GatewayProcessOptions {
  /** The folder in which the gateway keeps its state. */
  readonly folder: string;
  /** The folder for the compiled modules, which later starts use. Default: that of the user. */
  readonly cacheFolder?: string;
  /** Kills the gateway. Default: it ends only by `kill`, or with this process. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a gateway with these flags in a process of its own, on any free port. Resolves when it is ready.
 *
 * @throws {Error} if the gateway ends before it is ready. The message has its output.
 */
export async function startGatewayProcess(
  flags: readonly string[],
  { folder, cacheFolder, signal }: GatewayProcessOptions,
): Promise<GatewayProcess> {
  const main = fileURLToPath(new URL('../../../bin/muster.js', import.meta.url));
  const child = spawn(process.execPath, [main, ...flags, '--port', '0', '--log-level', 'silent'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, XDG_STATE_HOME: folder, ...(cacheFolder === undefined ? {} : { XDG_CACHE_HOME: cacheFolder }) },
    signal,
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const killAtExit = () => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  child.once('close', () => process.off('exit', killAtExit));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the gateway ended with ${code}:\n${text}`)));
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const ready = /ready (\S+)/.exec(text);
      if (ready?.[1] !== undefined) resolve(ready[1]);
    });
  });
  return { url, kill: (how) => child.kill(how), ended };
}
