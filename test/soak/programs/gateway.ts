// The gateway of the soak: `createGateway` as `muster serve` runs it. Measures its own process. Needs --expose-gc. Answers
// `GatewayQuestion`s.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Log } from '../../../src/core/log.ts';
import { createGateway, type Gateway } from '../../../src/gateway.ts';
import { answerParent } from '../../bench/forked.ts';
import { reachableBytes } from '../../bench/support/measuring.ts';
import { listenersHeld } from '../listeners-held.ts';

export type GatewayQuestion =
  /** Starts the gateway over this kubeconfig. Answers when the gateway is ready. */
  | { readonly type: 'start'; readonly kubeconfig: string }
  /** Samples the process. `deep` first collects all garbage and counts listeners, which stops the process for a second or two. */
  | { readonly type: 'sample'; readonly deep: boolean };

export interface GatewayAnswer {
  readonly port?: number;
  readonly sample?: GatewaySample;
}

/** Memory, handles and delays of the gateway's process. */
export interface GatewaySample {
  /** Reachable heap in a deep sample. In other samples it includes garbage. */
  readonly heapMb: number;
  readonly externalMb: number;
  readonly rssMb: number;
  readonly sockets: number;
  readonly timers: number;
  /** Listeners of all EventTargets, AbortSignals among them, and of all sockets. Only in deep samples. */
  readonly listeners?: number;
  /** Sum of the gauge `muster_streams` over all transports. Undefined if the gauge is missing. */
  readonly streams?: number;
  /** 99th percentile of the event loop's delay since the last sample. */
  readonly lagP99Ms: number;
  readonly lagMaxMs: number;
  /** CPU milliseconds so far, without the CPU of deep samples. */
  readonly cpuMs: number;
  /** Entries logged as errors. Each is a bug. */
  readonly bugs: readonly string[];
}

const bugs: string[] = [];
const ignore = () => undefined;
const log: Log = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ({ error, ...fields }, message) => {
    if (bugs.length < 100) bugs.push(`${message} ${JSON.stringify(fields)} ${error instanceof Error ? error.stack : ''}`);
  },
};
const delay = monitorEventLoopDelay({ resolution: 5 });
let gateway: Gateway | undefined;
let ownCpuMs = 0;

answerParent(answer);

async function answer(question: GatewayQuestion): Promise<GatewayAnswer> {
  switch (question.type) {
    case 'start':
      return { port: await start(question.kubeconfig) };
    case 'sample':
      return { sample: await sample(question.deep) };
    default:
      return question satisfies never;
  }
}

async function start(kubeconfigText: string): Promise<number> {
  const directory = mkdtempSync(path.join(tmpdir(), 'muster-soak-'));
  const kubeconfig = path.join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigText, { mode: 0o600 });
  const config = await loadConfig({ flags: { kubeconfig, port: '0' }, environment: { XDG_STATE_HOME: directory }, directory });
  gateway = await createGateway({ config, clock: systemClock, log });
  await gateway.whenStarted(new AbortController().signal);
  delay.enable();
  return Number(new URL(gateway.url).port);
}

async function sample(deep: boolean): Promise<GatewaySample> {
  const startMs = cpuMs();
  const lag = { lagP99Ms: delay.percentile(99) / 1e6, lagMaxMs: delay.max / 1e6 };
  const reachable = deep ? { heapMb: (await reachableBytes()) / 1e6, listeners: listenersHeld() } : {};
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const countOf = (name: string) => resources.filter((resource) => resource === name).length;
  const streams = await streamsGauge();
  if (deep) ownCpuMs += cpuMs() - startMs;
  // The delay that this collection caused does not count as lag of the gateway.
  delay.reset();
  return {
    heapMb: heapUsed / 1e6,
    ...reachable,
    externalMb: external / 1e6,
    rssMb: rss / 1e6,
    sockets: countOf('TCPSocketWrap'),
    timers: countOf('Timeout'),
    ...(streams === undefined ? {} : { streams }),
    ...lag,
    cpuMs: cpuMs() - ownCpuMs,
    bugs: bugs.splice(0),
  };
}

async function streamsGauge(): Promise<number | undefined> {
  const text = await (await fetch(new URL('/metrics', gateway?.url))).text();
  const values = [...text.matchAll(/^muster_streams(?:\{[^}]*\})? (\S+)$/gm)].map(([, value]) => Number(value));
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
