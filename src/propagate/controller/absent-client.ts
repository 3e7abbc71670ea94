import { breakage, faultOf } from '../../cluster/classify.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ObjectClient } from '../object-client.ts';

/** The objects of a cluster that is no member, or is none any more: every call fails with `GONE`. */
export function absentClient(cluster: ClusterName): ObjectClient {
  const fault = faultOf(breakage('GONE', 'the cluster is not a member of the fleet'), { cluster });
  const failed = () => Promise.resolve({ result: 'failed', fault } as const);
  const unknown = () => Promise.resolve({ fault });
  return { cluster, get: failed, apply: failed, replace: failed, patch: failed, delete: failed, serves: unknown, may: unknown };
}
