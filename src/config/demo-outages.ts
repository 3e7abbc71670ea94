/** The cluster of the embedded fleet that is its hub. */
export const demoHub = 'eu-prod';

/**
 * The ConfigMap in the hub of the embedded fleet that makes other clusters of that fleet unreachable. A key of its `data` is the name of a
 * cluster, with the value `stopped`. `muster demo` changes it, and `src/sim/demo` follows it.
 */
export const demoOutages = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'demo-outages' } as const;

/** The value of a cluster that is unreachable. */
export const stoppedCluster = 'stopped';
