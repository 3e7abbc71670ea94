import type { KubernetesObject } from '../core/objects.ts';
import type { SimServer } from './answer-context.ts';
import type { SimKind } from './built-in-kinds.ts';
import { applyDefinition, customKindOf, withdrawDefinition } from './custom-definition.ts';
import type { KindStorage } from './kind-storage.ts';
import { createObject, replaceObject, storedAs, type WriteOptions } from './object-writes.ts';
import type { AggregatedApi } from './sim-cluster.ts';
import type { StoredObject } from './stored-object.ts';

/** Serves a CustomResourceDefinition. Watches of a kind that was served in another form end, as they do in a real server. */
export function defineKind(server: SimServer, definition: KubernetesObject, options: WriteOptions): StoredObject {
  const kind = customKindOf(definition);
  const before = kind === undefined ? undefined : server.state.storage(kind.group, kind.resource);
  const was = before?.kind;
  const stored = applyDefinition(server.state, definition, options);
  if (before !== undefined && JSON.stringify(formOf(was)) !== JSON.stringify(formOf(before.kind))) endWatches(server, before);
  return stored;
}

/** Deletes a definition and all objects of its kind, and ends their watches after they were told. */
export function withdrawKind(server: SimServer, definition: StoredObject): void {
  withdrawDefinition(server.state, definition);
  for (const stream of [...server.watches]) if (!server.state.isServed(stream.storage)) stream.end();
}

/** Ends all watches without a word. */
export function endAllWatches(server: SimServer): void {
  for (const stream of [...server.watches]) {
    server.watches.delete(stream);
    stream.reset();
  }
}

/** What of a kind shows on the wire: what its schemas take and refuse does not. */
function formOf(kind: SimKind | undefined): object {
  const { schemas: _schemas, scale: _scale, ...form } = kind ?? { schemas: {} };
  return form;
}

function endWatches(server: SimServer, storage: KindStorage): void {
  for (const stream of [...server.watches]) if (stream.storage === storage) stream.end();
}

/** Serves an aggregated API, with the APIService that registers it. */
export function aggregateApi(server: SimServer, { group, version, kinds }: AggregatedApi): void {
  const { state } = server;
  for (const { kind, resource, singular = kind.toLowerCase(), namespaced, verbs, anonymous = false } of kinds) {
    const own: SimKind = {
      ...{ group, kind, listKind: `${kind}List`, resource, singular, namespaced, versions: [version], verbs },
      ...{ shortNames: [], categories: [], hasStatus: false, schemas: {}, source: 'aggregated', anonymous, zero: '' },
    };
    state.serve(own);
  }
  const services = state.storageOf({ group: 'apiregistration.k8s.io', kind: 'APIService' });
  const name = `${version}.${group}`;
  const lastTransitionTime = state.timestamp();
  const object: KubernetesObject = {
    metadata: { name },
    spec: {
      group,
      version,
      service: { namespace: 'kube-system', name: group.split('.')[0] ?? group },
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
    status: { conditions: [{ type: 'Available', status: 'True', lastTransitionTime, reason: 'Passed', message: 'all checks passed' }] },
  };
  const before = storedAs(services, object);
  if (before === undefined) createObject(state, services, object, { manager: 'kube-apiserver' });
  else replaceObject(state, services, { manager: 'kube-apiserver', before, object });
}
