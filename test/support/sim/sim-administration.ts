import { isJsonObject, type Json } from '../../../src/core/json.ts';
import { numberAt } from '../../../src/core/json-at.ts';
import { apiVersionOf } from '../../../src/core/kinds.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { type Administration, findObject, putObject, storageFor } from '../../../src/sim/administer.ts';
import type { SimKind } from '../../../src/sim/kinds/built-in-kinds.ts';
import { parseSimObject } from '../../../src/sim/kinds/sim-object.ts';
import { containerStatusOf } from '../../../src/sim/reads/run-log.ts';
import type { SimServer } from '../../../src/sim/requests/sim-server.ts';
import { createObject, findNamesake, replaceObject } from '../../../src/sim/state/object-writes.ts';
import { withdrawKind } from '../../../src/sim/writes/define-kind.ts';
import type { ContainerLogs } from './container-logs.ts';
import type { LaggingState } from './lagging-state.ts';
import type { AggregatedApi, SimCluster } from './sim-cluster.ts';

const definitionKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };

/** The parts of a cluster that tests fill and read. */
export interface SimParts {
  readonly server: SimServer;
  readonly state: LaggingState;
  readonly logs: ContainerLogs;
}

/** Methods for tests that fill, read and change a cluster, in addition to the methods of every embedded cluster. */
export function administerSim(
  { server, state, logs }: SimParts,
  { objects }: Administration,
): Pick<SimCluster, 'putRaw' | 'list' | 'fill' | 'withdraw' | 'aggregate' | 'backup' | 'writeLog'> {
  return {
    putRaw(object, members) {
      const storage = storageFor(server, object);
      return parseSimObject(
        storage.kind,
        state.withMembers({ storage, members }, () => putObject(server, object)),
      );
    },
    list: (kind, namespace) => ({ version: String(state.revision), items: objects(kind, namespace) }),
    fill(kind, count, template = {}) {
      const { kind: filled } = state.storageOf(kind);
      const identity = { apiVersion: apiVersionOf({ group: filled.group, version: filled.versions[0] ?? '' }), kind: filled.kind };
      let managedFields: Json | undefined;
      for (let index = 0; index < count; index++) {
        const given = typeof template === 'function' ? template(index) : template;
        const metadata = isJsonObject(given.metadata) ? given.metadata : {};
        const name = `${typeof metadata.name === 'string' ? metadata.name : filled.singular}-${index}`;
        // Filled objects have the same shape: their managedFields are equal, which saves two thirds of the work.
        const own = managedFields === undefined ? metadata : { managedFields, ...metadata };
        const stored = putObject(server, { ...identity, ...given, metadata: { ...own, name } });
        managedFields ??= parseSimObject(filled, stored).metadata.managedFields;
      }
    },
    withdraw(name) {
      const { object } = findObject(server, definitionKind, { name, namespace: undefined });
      if (object !== undefined) withdrawKind(server, object);
      return object !== undefined;
    },
    aggregate: (api) => aggregateApi(server, api),
    backup: () => ({ version: state.save() }),
    writeLog({ namespace = 'default', pod, container }, ...lines) {
      const { storage, object } = findObject(server, 'Pod', { name: pod, namespace });
      if (object === undefined) throw new Error(`no Pod ${namespace}/${pod}`);
      const run = numberAt(containerStatusOf(parseSimObject(storage.kind, object), container), 'restartCount') ?? 0;
      logs.write({ uid: object.uid, container, run }, lines);
    },
  };
}

/** Serves an aggregated API and the APIService that registers it. */
function aggregateApi(server: SimServer, { group, version, kinds }: AggregatedApi): void {
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
  const before = findNamesake(services, object);
  if (before === undefined) createObject(state, services, object, { manager: 'kube-apiserver' });
  else replaceObject(state, services, { manager: 'kube-apiserver', before, object });
}
