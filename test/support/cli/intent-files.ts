import { printYaml } from '../../../src/core/json/print-yaml.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';

/** A Deployment as it stands in a file. */
export function deployment(name: string, replicas = 4, image = 'registry.example.com/web:1.0'): JsonObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } };
}

/** A ConfigMap as it stands in a file. */
export function settings(name: string, data: Readonly<Record<string, string>> = { mode: '0644' }): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

/** A ConfigMap that stands in a cluster. */
export function standing(name: string, data: Readonly<Record<string, string>>): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

/** A file with one Propagation in `default`: by default of a Deployment of its name, divided over all clusters. */
export function intentFile(name: string, spec: JsonObject = {}): string {
  const defaults = { template: [{ json: deployment(name) }], placement: {}, replicas: { mode: 'Divided' } };
  return printYaml({
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'Propagation',
    metadata: { name },
    // A member that is undefined is left out.
    spec: { ...defaults, ...spec },
  });
}

/** A file with these objects. */
export function manifestFile(...objects: readonly JsonObject[]): string {
  return objects.map(printYaml).join('---\n');
}
