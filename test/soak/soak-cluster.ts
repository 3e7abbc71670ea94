import type { KubernetesObject } from '../../src/core/objects.ts';

/** One object as its cluster has it. Readers are compared with it. */
export interface TrueObject {
  readonly cluster: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly tier: string;
  /** Phase of a Job. Undefined for ConfigMaps. */
  readonly phase?: string;
}

/** An embedded or a real cluster of the soak. */
export interface SoakCluster extends AsyncDisposable {
  readonly name: string;
  readonly endpoint: { readonly url: string; readonly caPem: string } & (
    | { readonly token: string }
    | { readonly certPem: string; readonly keyPem: string }
  );
  /**
   * True while the cluster is frozen and a change would have to wait. Always false for an embedded cluster, which takes changes even then.
   */
  refusesChanges(): boolean;
  /** Creates the object, or replaces the object of the same name. */
  put(object: KubernetesObject): Promise<void>;
  remove(kind: 'ConfigMap' | 'Job', namespace: string, name: string): Promise<void>;
  /** Lists all ConfigMaps and Jobs. */
  objects(): Promise<readonly KubernetesObject[]>;
  /** Stops answering, with all connections open, until the result is disposed. */
  freeze(): Disposable;
}

/** Returns the objects of one cluster in the form that readers are compared with. */
export function trueObjects(cluster: string, objects: readonly KubernetesObject[]): readonly TrueObject[] {
  return objects.map(({ kind = '', metadata }) => {
    const { namespace = '', name, uid = '', resourceVersion = '', labels } = metadata;
    const phase = labels?.phase === undefined ? {} : { phase: labels.phase };
    return { cluster, kind, namespace, name, uid, version: resourceVersion, tier: labels?.tier ?? '', ...phase };
  });
}
