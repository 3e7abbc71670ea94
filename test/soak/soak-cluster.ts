import type { KubernetesObject } from '../../src/core/objects.ts';

/** One object as its cluster has it: what a reader has to hold in the end. */
export interface TrueObject {
  readonly cluster: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly tier: string;
  /** Of a Job. */
  readonly phase?: string;
}

/** A cluster of the soak: embedded, or real. */
export interface SoakCluster extends AsyncDisposable {
  readonly name: string;
  readonly endpoint: { readonly url: string; readonly caPem: string } & (
    | { readonly token: string }
    | { readonly certPem: string; readonly keyPem: string }
  );
  /** True while it takes no changes either, being frozen. */
  isDeaf(): boolean;
  /** Creates it, or replaces the one of its name. */
  put(object: KubernetesObject): Promise<void>;
  remove(kind: 'ConfigMap' | 'Job', namespace: string, name: string): Promise<void>;
  /** All ConfigMaps and Jobs. */
  objects(): Promise<readonly KubernetesObject[]>;
  /** Stops answering, with all connections open, until disposed of. */
  freeze(): Disposable;
}

/** The state of one cluster as readers are held to it. */
export function trueObjects(cluster: string, objects: readonly KubernetesObject[]): readonly TrueObject[] {
  return objects.map(({ kind = '', metadata }) => {
    const { namespace = '', name, uid = '', resourceVersion = '', labels } = metadata;
    const phase = labels?.phase === undefined ? {} : { phase: labels.phase };
    return { cluster, kind, namespace, name, uid, version: resourceVersion, tier: labels?.tier ?? '', ...phase };
  });
}
