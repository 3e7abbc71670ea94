import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceEndpoint } from './service.ts';

/** A gateway with the same settings as the others. */
interface Replica extends ServiceEndpoint {
  readonly name: string;
  /** Ends the gateway as Kubernetes ends a Pod, and starts it again. Resolves with its exit code once the new one is ready. */
  restart(): Promise<number | null>;
}

interface Replicas extends AsyncDisposable {
  readonly all: readonly Replica[];
}

interface ReplicasOptions {
  readonly kubeconfig: string;
  readonly count: number;
  /** The setting of the same name, as the chart sets it. */
  readonly shutdownDelaySeconds: number;
}

/** Milliseconds until a Service learns that a Pod ends: the period of the readiness probe in the chart, which is the slowest way. */
const learnsAfterMs = 5_000;
const startLimitMs = 120_000;

/** Starts gateways with equal settings, and waits until all are ready. They share the key of their cursors, as Pods share a Secret. */
export async function startReplicas({ kubeconfig, count, shutdownDelaySeconds }: ReplicasOptions): Promise<Replicas> {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-rolling-'));
  const file = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text, { mode: 0o600 });
    return path.join(folder, name);
  };
  const kubeconfigFile = file('kubeconfig', kubeconfig);
  const keyFile = file('key', 'the key of the cursors of both gateways');
  const config = file(
    'config.yaml',
    JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', logLevel: 'error', keyFile, shutdownDelaySeconds }),
  );
  const all: GatewayReplica[] = [];
  for (let index = 0; index < count; index += 1) {
    const port = await freePort();
    const args = ['serve', '--config', config, '--kubeconfig', kubeconfigFile, '--port', String(port)];
    all.push(new GatewayReplica({ name: `gateway ${index + 1}`, port, args, state: path.join(folder, `state-${index}`) }));
  }
  await Promise.all(all.map((replica) => replica.start()));
  return {
    all,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((replica) => replica.stop()));
    },
  };
}

interface GatewayReplicaOptions {
  readonly name: string;
  readonly port: number;
  readonly args: readonly string[];
  /** The folder for the state of the process. */
  readonly state: string;
}

class GatewayReplica implements Replica {
  readonly name: string;
  readonly port: number;
  readonly #options: GatewayReplicaOptions;
  #process: ChildProcess | undefined;
  isReady = false;

  constructor(options: GatewayReplicaOptions) {
    this.name = options.name;
    this.port = options.port;
    this.#options = options;
  }

  async start(): Promise<void> {
    const main = path.join(import.meta.dirname, '../../../src/main.ts');
    this.#process = spawn(process.execPath, [main, ...this.#options.args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, XDG_STATE_HOME: this.#options.state },
    });
    const untilMs = performance.now() + startLimitMs;
    while (!(await this.#answersReady())) {
      if (performance.now() > untilMs || this.#process.exitCode !== null) throw new Error(`${this.name} is not ready`);
      await sleep(200);
    }
    this.isReady = true;
  }

  /** Sends SIGTERM, and resolves with the exit code. The service learns of it later. */
  async stop(): Promise<number | null> {
    const gateway = this.#process;
    if (gateway === undefined || gateway.exitCode !== null) return gateway?.exitCode ?? null;
    const learning = setTimeout(() => {
      this.isReady = false;
    }, learnsAfterMs);
    const ended = once(gateway, 'exit');
    gateway.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    clearTimeout(learning);
    this.isReady = false;
    return code;
  }

  async restart(): Promise<number | null> {
    const code = await this.stop();
    await this.start();
    return code;
  }

  async #answersReady(): Promise<boolean> {
    try {
      return (await fetch(`http://127.0.0.1:${this.port}/readyz`)).ok;
    } catch {
      return false;
    }
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
