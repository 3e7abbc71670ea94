import { createObjectClient } from '../../../src/changes/create-object-client.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { resourceKind } from '../../../src/importers/upkeep/resource-store.ts';
import { runUpkeep } from '../../../src/importers/upkeep/run-upkeep.ts';
import type { Hub } from '../../../src/propagate/hub/hub.ts';
import type { ClientOf } from '../../../src/propagate/plan/snapshot/plan-request.ts';
import { type ControllerWorld, type ControllerWorldOptions, startControllerWorld } from '../../propagate/controller/controller-world.ts';

export const resourceKey = 'MultiClusterResource.mulitcluster.practice.com';
export const definitions = 'CustomResourceDefinition.apiextensions.k8s.io';

const anything: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The definition of MultiClusterResources, as their operator installs it. */
export function resourceDefinition({ status = true, schema = anything }: { readonly status?: boolean; readonly schema?: JsonObject } = {}) {
  return {
    metadata: { name: 'multiclusterresources.mulitcluster.practice.com' },
    spec: {
      group: 'mulitcluster.practice.com',
      scope: 'Namespaced',
      names: { kind: 'MultiClusterResource', listKind: 'MultiClusterResourceList', plural: 'multiclusterresources' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          ...(status ? { subresources: { status: {} } } : {}),
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  } satisfies KubernetesObject;
}

/** A MultiClusterResource of a ConfigMap in these clusters. */
export function resource(
  name: string,
  clusters: readonly string[],
  more: JsonObject = {},
): KubernetesObject & { readonly spec: JsonObject } {
  return {
    apiVersion: 'mulitcluster.practice.com/v1alpha1',
    kind: 'MultiClusterResource',
    metadata: { name, namespace: 'default' },
    spec: {
      template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { mode: 'calm' } },
      placement: { clusters: clusters.map((cluster) => ({ name: cluster })) },
      ...more,
    },
  };
}

/** The customization that sets `data.mode` in one cluster. */
export function customized(cluster: string, mode: string): JsonObject {
  return { customize: { clusters: [{ name: cluster, action: [{ path: '/data/mode', op: 'replace', value: [mode] }] }] } };
}

export interface UpkeepWorld extends ControllerWorld {
  /** `data.mode` of the ConfigMap in each cluster but the hub. Undefined: it is not there. */
  modes(name: string): readonly (string | undefined)[];
  /** The resource on the hub. */
  resource(name: string): KubernetesObject | undefined;
  statusOf(name: string): JsonObject | undefined;
  /** Advances time until the status of the resource has this phase. */
  untilPhase(name: string, phase: string, withinMs?: number): Promise<void>;
}

export interface UpkeepWorldOptions extends Omit<ControllerWorldOptions, 'leaderWork'> {
  readonly serviceAccount?: string;
  /** The definition of the kind. Default: that of `resourceDefinition`. `none`: the hub has none. */
  readonly definition?: KubernetesObject | 'none';
}

function clientsIn({ members }: Hub): ClientOf {
  return (name) => {
    const api = members.api(name);
    return api && createObjectClient(api);
  };
}

/** Starts a hub with MultiClusterResources and two further clusters. Each process keeps the resources in sync while it leads. */
export async function startUpkeepWorld({
  serviceAccount,
  definition = resourceDefinition(),
  ...options
}: UpkeepWorldOptions = {}): Promise<UpkeepWorld> {
  const fleet = await startControllerWorld(
    { hub: [], south: [], east: [] },
    {
      ...options,
      leaderWork:
        ({ hub, stores: { propagations }, clock, log }) =>
        (term) =>
          runUpkeep({ hub, propagations, clientOf: clientsIn(hub), serviceAccount, clock, log }, term),
    },
  );
  const { world } = fleet;
  const hub = world.cluster('hub');
  if (definition !== 'none') hub.define(definition);
  const found = (name: string) =>
    hub.get(definitions, resourceDefinition().metadata.name) === undefined ? undefined : hub.get(resourceKey, name, 'default');
  const statusOf = (name: string) => found(name)?.status as JsonObject | undefined;
  return {
    ...fleet,
    modes: (name) =>
      ['south', 'east'].map(
        (cluster) => (world.cluster(cluster).get('ConfigMap', name, 'default')?.data as { mode?: string } | undefined)?.mode,
      ),
    resource: found,
    statusOf,
    async untilPhase(name, phase, withinMs) {
      try {
        await world.until(() => statusOf(name)?.phase === phase, withinMs);
      } catch {
        throw new Error(`expected ${name} to be ${phase}, got ${JSON.stringify(found(name) ?? null, null, 1)}`);
      }
    },
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose](),
  };
}

/** Deletes the resource like a client, so that finalizers count. */
export async function deleteResource({ world }: UpkeepWorld, cascade: 'Background' | 'Orphan' = 'Background'): Promise<void> {
  const served = world.members.objects.served(world.hub.cluster, resourceKind);
  const client = world.hub.client();
  if (typeof served !== 'object' || client === undefined) throw new Error('expected the kind to be served');
  const { signal } = new AbortController();
  await world.pumped(
    client.delete({ resource: served, namespace: 'default', name: 'web', preconditions: {}, cascade, run: 'real' }, signal),
  );
}
