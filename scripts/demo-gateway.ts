import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A gateway over the embedded fleet, in a process of its own. */
export interface DemoGateway extends AsyncDisposable {
  /** Such as `http://127.0.0.1:40123`. */
  readonly origin: string;
}

/** Starts a gateway over the embedded fleet. Resolves when every cluster has answered. */
export async function startDemoGateway(): Promise<DemoGateway> {
  const state = await mkdtemp(path.join(tmpdir(), 'muster-pictures-'));
  const gateway = spawn(process.execPath, ['src/main.ts', '--demo', '--port', '0', '--log-level', 'error'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, XDG_STATE_HOME: state },
  });
  let text = '';
  let url: string | undefined;
  for await (const chunk of gateway.stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    url = /^ready (http\S+)$/m.exec(text)?.[1];
    if (url !== undefined) break;
  }
  if (url === undefined) throw new Error(`the gateway ended:\n${text}`);
  gateway.stdout.resume();
  const ended = new Promise<void>((resolve) => gateway.once('close', () => resolve()));
  return {
    origin: new URL(url).origin,
    [Symbol.asyncDispose]: async () => {
      gateway.kill('SIGTERM');
      await ended;
      await rm(state, { recursive: true, force: true });
    },
  };
}
