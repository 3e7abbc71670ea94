import type { V1PodSpec } from '@kubernetes/client-node';
import type { Json, JsonObject } from '../core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../core/json-at.ts';
import { keyOfKind } from '../core/kinds.ts';
import type { Stored } from '../core/stored.ts';
import { groupKindOfKey } from './object-key.ts';

const template = ['spec', 'template', 'spec'];

const podSpecPaths: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', ['spec']],
  ['PodTemplate', ['template', 'spec']],
  ['ReplicationController', template],
  ['Deployment.apps', template],
  ['ReplicaSet.apps', template],
  ['StatefulSet.apps', template],
  ['DaemonSet.apps', template],
  ['Job.batch', template],
  ['CronJob.batch', ['spec', 'jobTemplate', 'spec', 'template', 'spec']],
]);

/**
 * Returns the path of the pod spec in an object. For a custom kind, it tries the path that a Deployment uses. Undefined if the object has
 * no pod spec.
 */
function podSpecPathOf(object: JsonObject): readonly string[] | undefined {
  const known = podSpecPaths.get(kindTextOf(object));
  const path = known ?? (Array.isArray(valueAt(object, ...template, 'containers')) ? template : undefined);
  return path === undefined || valueAt(object, ...path) === undefined ? undefined : path;
}

/** Returns the pod spec of an object of any kind. Undefined if it has none. */
export function podSpecOf(object: JsonObject): Stored<V1PodSpec> | undefined {
  const path = podSpecPathOf(object);
  return path === undefined ? undefined : objectAt(object, ...path);
}

/** Returns the kind of a manifest as text, without its version: `Pod`, `Deployment.apps`. */
export function kindTextOf(object: JsonObject): string {
  return keyOfKind(groupKindOfKey({ apiVersion: textAt(object, 'apiVersion') ?? '', kind: textAt(object, 'kind') ?? '' }));
}

/** A container, with its path in the object. */
interface ContainerAtPath {
  readonly path: readonly string[];
  readonly name: string | undefined;
  readonly container: Json;
}

/**
 * Returns the containers of an object, each list in its own order. `All`: the init containers, then the main containers. `Main`: without
 * init containers. `Init`: only init containers.
 */
export function containersIn(object: JsonObject, scope: 'All' | 'Main' | 'Init'): readonly ContainerAtPath[] {
  const path = podSpecPathOf(object);
  if (path === undefined) return [];
  return listsOf[scope].flatMap((list) =>
    listAt(object, ...path, list).map((container, index) => ({
      path: [...path, list, String(index)],
      name: textAt(container, 'name'),
      container,
    })),
  );
}

const listsOf = {
  All: ['initContainers', 'containers'],
  Main: ['containers'],
  Init: ['initContainers'],
} as const;
