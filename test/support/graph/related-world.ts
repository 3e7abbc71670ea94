import type { Access } from '../../../src/access/access.ts';
import type { Json } from '../../../src/core/json.ts';
import type { KubernetesObject, ObjectMetadata } from '../../../src/core/objects.ts';
import { loadBaseline, objectNamed, servedAs } from '../kubernetes-objects.ts';
import type { FakeCluster } from './fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from './graph-over-mirrors.ts';

/** The objects of a cluster by `keyOfKind`. The cluster serves these kinds. */
export type Inventory = Readonly<Record<string, readonly KubernetesObject[]>>;

/** A graph over clusters whose mirrors are complete. */
export interface RelatedWorld extends GraphOverMirrors {
  cluster(name: string): FakeCluster;
}

const model = loadBaseline();

/** Returns how a cluster serves a kind of the baseline. */
export const served = (key: string) => servedAs(model, key);

/** Makes a graph over these clusters. Kinds without objects are listed too. */
export function relatedWorld(clusters: Readonly<Record<string, Inventory>>, options: { readonly access?: Access } = {}): RelatedWorld {
  const graph = graphOverMirrors({ model, ...options });
  const joined = new Map(Object.entries(clusters).map(([name, inventory]) => [name, fill(graph, name, inventory)]));
  return {
    ...graph,
    cluster(name) {
      const found = joined.get(name);
      if (found === undefined) throw new Error(`no cluster ${name}`);
      return found;
    },
  };
}

function fill({ mirrors }: GraphOverMirrors, name: string, inventory: Inventory): FakeCluster {
  const cluster = mirrors.join(name);
  cluster.discover(...Object.keys(inventory).map(served));
  for (const [key, objects] of Object.entries(inventory)) cluster.mirror(served(key)).list(...objects);
  return cluster;
}

type Rest = Readonly<Record<string, Json>>;

/** Makes an object in the namespace `shop`. Default uid: `uid-` and the name. */
export function inShop(name: string, metadata: Partial<ObjectMetadata> = {}, rest: Rest = {}): KubernetesObject {
  return objectNamed(name, { namespace: 'shop', uid: `uid-${name}`, ...metadata }, rest);
}

/** Makes the metadata of an owned object. The owner has this name, by default the group `apps`, and the uid that `inShop` gives. */
export function controlledBy(kind: string, name: string, reference: Partial<{ uid: string; apiVersion: string }> = {}) {
  return { ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true, ...reference }] };
}
