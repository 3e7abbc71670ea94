import type { Access } from '../../../src/access/access.ts';
import type { Json } from '../../../src/core/json.ts';
import type { KubernetesObject, ObjectMetadata } from '../../../src/core/objects.ts';
import { loadBaseline, objectNamed, servedAs } from '../kubernetes-objects.ts';
import type { FakeCluster } from './fake-mirrors.ts';
import { type GraphOverMirrors, graphOverMirrors } from './graph-over-mirrors.ts';

/** The objects of a cluster by `keyOfKind`: it serves these kinds. */
export type Inventory = Readonly<Record<string, readonly KubernetesObject[]>>;

/** A graph over clusters whose mirrors are whole. */
export interface RelatedWorld extends GraphOverMirrors {
  cluster(name: string): FakeCluster;
}

const model = loadBaseline();

/** How a cluster serves a kind of the baseline. */
export const served = (key: string) => servedAs(model, key);

/** A graph over these clusters. Kinds without objects are listed too. */
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

/** An object of the namespace `shop`, whose uid is `uid-` and its name unless it is told. */
export function inShop(name: string, metadata: Partial<ObjectMetadata> = {}, rest: Rest = {}): KubernetesObject {
  return objectNamed(name, { namespace: 'shop', uid: `uid-${name}`, ...metadata }, rest);
}

/** The metadata of what is owned: by the one of that name, in group `apps` unless it is told, with the uid that `inShop` gives. */
export function controlledBy(kind: string, name: string, reference: Partial<{ uid: string; apiVersion: string }> = {}) {
  return { ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true, ...reference }] };
}
