import type { JsonObject } from '../../src/core/json.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { SoakCluster } from './soak-cluster.ts';

type Kind = 'ConfigMap' | 'Job';

/**
 * Number of names per kind in one namespace of one cluster. About half of them exist at a time, so a deleted name is often created again.
 */
const pool: Readonly<Record<Kind, number>> = { ConfigMap: 24, Job: 12 };

/** Phases of a Job, each with the status that produces it. */
const jobStatuses: Readonly<Record<string, JsonObject>> = {
  RUNNING: { active: 1 },
  COMPLETE: { succeeded: 1, conditions: [conditionOf('Complete')] },
  FAILED: { failed: 1, conditions: [conditionOf('Failed')] },
  SUSPENDED: { conditions: [conditionOf('Suspended')] },
};

/** Changes ConfigMaps and Jobs of clusters at random: three in four changes are updates, the rest come and go. */
export class Churn {
  readonly #clusters: readonly SoakCluster[];
  readonly #namespaces: readonly string[];
  readonly #present = new Map<string, Set<string>>();
  #changes = 0;

  constructor(clusters: readonly SoakCluster[], namespaces: readonly string[]) {
    this.#clusters = clusters;
    this.#namespaces = namespaces;
  }

  /** Number of changes so far. */
  get changes(): number {
    return this.#changes;
  }

  /** Creates half of all objects. */
  async fill(): Promise<void> {
    for (const cluster of this.#clusters)
      for (const namespace of this.#namespaces)
        for (const kind of ['ConfigMap', 'Job'] as const)
          for (let index = 0; index < pool[kind] / 2; index += 1) await this.#put(cluster, { kind, namespace, name: nameOf(kind, index) });
  }

  /** Makes one random change in a random cluster that takes changes. */
  async change(): Promise<void> {
    const cluster = oneOf(this.#clusters.filter((one) => !one.refusesChanges()));
    const namespace = oneOf(this.#namespaces);
    const kind: Kind = Math.random() < 0.75 ? 'ConfigMap' : 'Job';
    const present = this.#presentIn(cluster, namespace, kind);
    if (Math.random() < 0.75 && present.size > 0) return this.#put(cluster, { kind, namespace, name: oneOf([...present]) });
    const name = nameOf(kind, Math.floor(Math.random() * pool[kind]));
    if (!present.has(name)) return this.#put(cluster, { kind, namespace, name });
    present.delete(name);
    this.#changes += 1;
    await cluster.remove(kind, namespace, name);
  }

  #presentIn(cluster: SoakCluster, namespace: string, kind: Kind): Set<string> {
    const key = `${cluster.name}/${namespace}/${kind}`;
    const known = this.#present.get(key) ?? new Set();
    this.#present.set(key, known);
    return known;
  }

  async #put(cluster: SoakCluster, { kind, namespace, name }: { kind: Kind; namespace: string; name: string }): Promise<void> {
    this.#changes += 1;
    this.#presentIn(cluster, namespace, kind).add(name);
    await cluster.put(kind === 'ConfigMap' ? settings(namespace, name, this.#changes) : job(namespace, name));
  }
}

/** A ConfigMap of about 1 KB. Its tier is random, so an update can move the object out of a selection. */
function settings(namespace: string, name: string, revision: number): KubernetesObject {
  const tier = Math.random() < 0.7 ? 'front' : 'back';
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { tier } },
    data: { revision: String(revision), text: 'x'.repeat(700) },
  } as unknown as KubernetesObject;
}

function job(namespace: string, name: string): KubernetesObject {
  const phase = oneOf(Object.keys(jobStatuses));
  const template = { metadata: {}, spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example.com/job:1' }] } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, labels: { tier: 'front', phase } },
    spec: { parallelism: 1, completions: 1, template },
    status: jobStatuses[phase] ?? {},
  } as unknown as KubernetesObject;
}

function conditionOf(type: string): JsonObject {
  return { type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
}

const nameOf = (kind: Kind, index: number): string => `${kind === 'Job' ? 'job' : 'settings'}-${index}`;

function oneOf<T>(values: readonly T[]): T {
  const value = values[Math.floor(Math.random() * values.length)];
  if (value === undefined) throw new Error('expected at least one value');
  return value;
}
