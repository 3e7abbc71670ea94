// The clusters of the soak and their churn, in a process of its own. Answers `FleetQuestion`s over IPC.
import { setTimeout as sleep } from 'node:timers/promises';
import { answerParent } from '../../bench/forked.ts';
import { Churn } from '../churn.ts';
import { startEmbedded } from '../embedded-cluster.ts';
import { type SoakCluster, type TrueObject, trueObjects } from '../soak-cluster.ts';

export type FleetQuestion =
  /** Starts the clusters and fills them. The answer has their kubeconfig. */
  | { readonly type: 'start'; readonly namespaces: readonly string[]; readonly real: boolean }
  /** Sets the rate of changes. With 0, waits until the change in flight is made. */
  | { readonly type: 'churn'; readonly perSecond: number }
  | { readonly type: 'freeze'; readonly cluster: string }
  | { readonly type: 'thaw' }
  | { readonly type: 'truth' }
  | { readonly type: 'figures' };

export interface FleetAnswer {
  readonly kubeconfig?: string;
  readonly clusters?: readonly string[];
  readonly truth?: readonly TrueObject[];
  readonly changes?: number;
  /** CPU milliseconds of the process so far. */
  readonly cpuMs?: number;
}

const tickMs = 20;

let clusters: readonly SoakCluster[] = [];
let churn: Churn | undefined;
let perSecond = 0;
let busy: Promise<void> | undefined;
let frozen: Disposable | undefined;

answerParent(answer);
// Real API servers would outlive this process.
process.once('SIGTERM', () => {
  frozen?.[Symbol.dispose]();
  void Promise.all(clusters.map((cluster) => cluster[Symbol.asyncDispose]())).finally(() => process.exit(0));
});

async function answer(question: FleetQuestion): Promise<FleetAnswer> {
  switch (question.type) {
    case 'start':
      return start(question);
    case 'churn':
      ({ perSecond } = question);
      if (perSecond > 0) busy ??= keepChanging();
      else await busy;
      return {};
    case 'freeze':
      frozen = clusters.find(({ name }) => name === question.cluster)?.freeze();
      return {};
    case 'thaw':
      frozen?.[Symbol.dispose]();
      frozen = undefined;
      return {};
    case 'truth': {
      const lists = clusters.map(async (cluster) => trueObjects(cluster.name, await cluster.objects()));
      return { truth: (await Promise.all(lists)).flat() };
    }
    case 'figures': {
      const { user, system } = process.cpuUsage();
      return { changes: churn?.changes ?? 0, cpuMs: (user + system) / 1000 };
    }
    default:
      return question satisfies never;
  }
}

async function start(question: FleetQuestion & { readonly type: 'start' }): Promise<FleetAnswer> {
  const { namespaces } = question;
  // While frozen, `north` and `east` drop history that watches need, so they are listed again. The history of `south` is long enough to
  // resume.
  const histories = { north: 1_000, south: 20_000, east: 1_000 };
  clusters = question.real
    ? await (await import('../real-clusters.ts')).startReal(Object.keys(histories), namespaces)
    : await Promise.all(Object.entries(histories).map(([name, history]) => startEmbedded(name, history)));
  churn = new Churn(clusters, namespaces);
  await churn.fill();
  return { kubeconfig: kubeconfigText(clusters), clusters: clusters.map(({ name }) => name) };
}

async function keepChanging(): Promise<void> {
  let due = 0;
  let lastMs = performance.now();
  while (perSecond > 0) {
    await sleep(tickMs);
    const nowMs = performance.now();
    // At most one second of changes is made up for after a pause.
    due = Math.min(due + ((nowMs - lastMs) / 1000) * perSecond, perSecond);
    lastMs = nowMs;
    for (; due >= 1 && perSecond > 0; due -= 1) await churn?.change();
  }
  busy = undefined;
}

function kubeconfigText(all: readonly SoakCluster[]): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const userOf = ({ endpoint }: SoakCluster) =>
    'token' in endpoint
      ? { token: endpoint.token }
      : { 'client-certificate-data': base64(endpoint.certPem), 'client-key-data': base64(endpoint.keyPem) };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': all[0]?.name,
    clusters: all.map(({ name, endpoint }) => ({
      name,
      cluster: { server: endpoint.url, 'certificate-authority-data': base64(endpoint.caPem) },
    })),
    users: all.map((cluster) => ({ name: cluster.name, user: userOf(cluster) })),
    contexts: all.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  });
}
