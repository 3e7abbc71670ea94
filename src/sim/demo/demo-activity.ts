import type { V1Deployment } from '@kubernetes/client-node';
import type { Clock } from '../../core/clock.ts';
import { numberAt, objectAt } from '../../core/json-at.ts';
import type { TypedObject } from '../../core/objects.ts';
import { itemsOf } from '../../core/stored.ts';
import { readyAnnotation } from '../controllers/nodes.ts';
import { hashOf } from '../controllers/world.ts';
import type { EmbeddedCluster } from '../kinds/embedded-cluster.ts';
import { Workloads } from './workloads.ts';

/** Milliseconds between two actions in a demo cluster. */
const pauseMs = { min: 3_000, max: 9_000 } as const;
/** Pods of the nightly Job that must succeed, per cluster. Their sum stays within the limit of logs that are read at once. */
const nightlyPods: Readonly<Record<string, number>> = { 'eu-prod': 6, 'us-prod': 4, staging: 3 };
/** How long a lost node is unreachable. */
const absenceMs = 20_000;

/**
 * Simulates users of a demo cluster until the signal aborts. First starts the nightly Job, which has the same name in all clusters. Then,
 * every few seconds, it releases an image, scales a Deployment, runs a Job that may fail, changes Widgets, or makes a node unreachable for
 * a while.
 */
export async function runDemoActivity(cluster: EmbeddedCluster, clock: Clock, signal: AbortSignal): Promise<void> {
  runNightly(cluster, clock);
  const acts = [release, release, scale, scale, runJob, runJob, produce, produce, loseNode];
  while (!signal.aborted) {
    await clock.sleep(pauseMs.min + clock.random() * (pauseMs.max - pauseMs.min), signal);
    if (signal.aborted) return;
    const act = oneOf(acts, clock);
    await act?.(cluster, clock, signal);
  }
}

/** Gives a healthy Deployment of the shop its next patch version. */
function release(cluster: EmbeddedCluster, clock: Clock): void {
  const deployment = oneOf(healthy(cluster), clock);
  if (deployment === undefined) return;
  const template = deployment.spec?.template;
  const containers = itemsOf(template?.spec?.containers).map((container) => {
    const image = container.image ?? '';
    return { ...container, image: image.replace(/\d+$/, (patch) => String(Number(patch) + 1)) };
  });
  const version = containers[0]?.image.split(':')[1] ?? '';
  const metadata = template?.metadata;
  const labels = { ...metadata?.labels, 'app.kubernetes.io/version': version };
  const next = { ...template, metadata: { ...metadata, labels }, spec: { ...template?.spec, containers } };
  cluster.put({ ...deployment, spec: { ...deployment.spec, template: next } });
}

/** Adds or removes one replica of a Deployment, between 1 and 6. */
function scale(cluster: EmbeddedCluster, clock: Clock): void {
  const deployment = oneOf(healthy(cluster), clock);
  if (deployment === undefined) return;
  const replicas = (deployment.spec?.replicas ?? 1) + (clock.random() < 0.5 ? -1 : 1);
  cluster.put({ ...deployment, spec: { ...deployment.spec, replicas: Math.min(6, Math.max(1, replicas)) } });
}

/** Starts a Job that takes about half a minute, so that people can watch it. */
function runNightly(cluster: EmbeddedCluster, clock: Clock): void {
  const program = {
    name: 'invoice-run',
    namespace: 'batch',
    image: 'invoices:4.2.0',
    team: 'finance',
    ageDays: 0,
    cpu: '100m',
    batch: 'nightly',
  };
  cluster.put(new Workloads(clock.now()).job(program, { parallelism: 2, completions: nightlyPods[cluster.name] ?? 1 }));
}

/** Starts a Job that is removed two minutes after its end. One of four fails. */
function runJob(cluster: EmbeddedCluster, clock: Clock): void {
  const name = `thumbnails-${hashOf(clock.now()).slice(0, 5)}`;
  const program = { name, namespace: 'batch', image: 'thumbnails:1.12.0', team: 'catalog', ageDays: 0, cpu: '100m' };
  const job = new Workloads(clock.now()).job(clock.random() < 0.25 ? { ...program, outcome: 'failed' } : program, {
    parallelism: 2,
    completions: 3,
    backoffLimit: 1,
    ttlSecondsAfterFinished: 120,
  });
  cluster.put(job);
}

/** Changes the status of Widgets, if the cluster has any. */
function produce(cluster: EmbeddedCluster, clock: Clock): void {
  if (cluster.get('CustomResourceDefinition', 'widgets.example.com') === undefined) return;
  for (const widget of cluster.objects('Widget')) {
    const temperature = Math.round((18 + clock.random() * 12) * 10) / 10;
    const produced = (numberAt(widget.status, 'produced') ?? 0) + Math.floor(clock.random() * 40);
    cluster.put({ ...widget, status: { ...objectAt(widget.status), temperature, produced } });
  }
}

/** Makes a node unreachable for 20 s, in three of ten calls. */
async function loseNode(cluster: EmbeddedCluster, clock: Clock, signal: AbortSignal): Promise<void> {
  const present = cluster.objects('Node').filter(({ metadata }) => metadata.annotations?.[readyAnnotation] === undefined);
  const node = oneOf(present, clock);
  if (node === undefined || clock.random() < 0.7) return;
  cluster.put({ ...node, metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, [readyAnnotation]: 'false' } } });
  await clock.sleep(absenceMs, signal);
  const held = cluster.get('Node', node.metadata.name);
  if (held === undefined || signal.aborted) return;
  const { [readyAnnotation]: _away, ...annotations } = held.metadata.annotations ?? {};
  cluster.put({ ...held, metadata: { ...held.metadata, annotations } });
}

/** Returns the Deployments that may be released and scaled: no system workloads, and none that is broken on purpose. */
function healthy(cluster: EmbeddedCluster): readonly TypedObject<V1Deployment>[] {
  const deployments: readonly TypedObject<V1Deployment>[] = [
    ...cluster.objects('Deployment', 'shop'),
    ...cluster.objects('Deployment', 'payments'),
  ];
  return deployments.filter(
    ({ spec }) =>
      spec?.template?.metadata?.annotations?.['sim/outcome'] === undefined &&
      Object.keys(spec?.template?.spec?.nodeSelector ?? {}).length === 0,
  );
}

function oneOf<T>(choices: readonly T[], clock: Clock): T | undefined {
  return choices[Math.floor(clock.random() * choices.length)];
}
