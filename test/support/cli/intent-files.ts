import { printYaml } from '../../../src/core/json/print-yaml.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';

/** Makes a Deployment as in a file. */
export function deployment(name: string, replicas = 4, image = 'registry.example.com/web:1.0'): JsonObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } };
}

/** Makes a ConfigMap as in a file. */
export function settings(name: string, data: Readonly<Record<string, string>> = { mode: '0644' }): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

/** Makes a ConfigMap as in a cluster. */
export function standing(name: string, data: Readonly<Record<string, string>>): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

/**
 * Makes a file with one Propagation in `default`. By default it propagates a Deployment of the same name and divides it over all
 * clusters.
 */
export function intentFile(name: string, spec: JsonObject = {}): string {
  const defaults = { template: [{ json: deployment(name) }], placement: {}, replicas: { mode: 'Divided' } };
  return printYaml({
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'Propagation',
    metadata: { name },
    // Members that are undefined are left out.
    spec: { ...defaults, ...spec },
  });
}

/** Makes a file with these objects. */
export function manifestFile(...objects: readonly JsonObject[]): string {
  return objects.map(printYaml).join('---\n');
}
