import type { ClusterApi } from '../../cluster/cluster-api.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { ClusterName } from '../../core/names.ts';
import type { ConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import type { Breaker } from '../server/breaker.ts';
import type { DecodePace } from './decode-pace.ts';
import type { ListAdmission } from './list-admission.ts';

/** The services that all reflectors of one cluster share. */
export interface ReflectorContext {
  readonly cluster: ClusterName;
  /** An observed API: the breaker learns from each of its answers. */
  readonly api: ClusterApi;
  readonly breaker: Breaker;
  readonly admission: ListAdmission;
  readonly pace: DecodePace;
  /** Limits concurrent SelfSubjectAccessReviews. */
  readonly reviews: ConcurrencyLimit;
  readonly clock: Clock;
  readonly log: Log;
}
