import type { JsonObject } from '../../src/core/json.ts';
import type { KubernetesObject, ObjectMetadata } from '../../src/core/objects.ts';

/** Makes a Pod as a user applies it. Default namespace: `default`. */
export function pod(name: string, metadata: Partial<ObjectMetadata> = {}, spec: JsonObject = {}): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', labels: { app: name }, ...metadata, name },
    spec: { containers: [{ name: 'main', image: `${name}:1` }], ...spec },
    status: { phase: 'Running' },
  };
}

/** A Deployment of one replica. */
export function deployment(name: string, spec: JsonObject = {}): KubernetesObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default', labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: `${name}:1` }] } },
      ...spec,
    },
    status: {},
  };
}

/** Makes the definition of `widgets.example.com`, whose spec has these properties. */
export function widgetDefinition(properties: JsonObject = { size: { type: 'integer' } }, version = 'v1'): KubernetesObject {
  const schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

/** A Widget. */
export function widget(name: string, spec: JsonObject = { size: 1 }, version = 'v1'): KubernetesObject {
  return { apiVersion: `example.com/${version}`, kind: 'Widget', metadata: { name, namespace: 'default' }, spec };
}
