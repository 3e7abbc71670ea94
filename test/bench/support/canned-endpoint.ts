import type { ClusterApi } from '../../../src/cluster/cluster-api.ts';
import { connectCluster } from '../../../src/cluster/requests/connect-cluster.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { clusterName } from '../../../src/core/names.ts';

/** Opens the gateway's transport to the canned server, as for a cluster of a kubeconfig. */
export function connectToCanned({
  url,
  ca,
  signal,
}: {
  readonly url: string;
  readonly ca: string;
  readonly signal: AbortSignal;
}): ClusterApi {
  const endpoint = {
    name: clusterName('bench'),
    server: url,
    trust: { type: 'authority', certificates: { type: 'data', data: Buffer.from(ca) } },
    credentials: { type: 'token', token: 'bench' },
    compression: 'off',
  } as const;
  return connectCluster(endpoint, { clock: systemClock, log: silentLog, signal });
}
