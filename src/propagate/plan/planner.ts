import type { ClusterName } from '../../core/names.ts';
import type { PropagationPlan, RenderedObject, RenderedPlan } from '../model/plan.ts';
import type { PlacedRequest, PlanRequest } from './snapshot/plan-request.ts';

/**
 * Plans the work of a Propagation in each cluster. Writes nothing. Created by create-planner.ts.
 *
 * All methods compute digests in the same way: from the mirrors, plus live reads where a dry run showed that a mirror was outdated. An
 * abort rejects with the signal's reason.
 */
export interface Planner {
  /**
   * Renders a plan from the mirrors, without dry runs. Only referenced templates are read live. Waits at most 10 s for mirrors that were
   * never read before.
   */
  render(request: PlanRequest): Promise<RenderedPlan>;
  /**
   * Renders the copies that the spec of the request placed: those whose manifest has the hash in the inventory. The controller uses them to
   * restore deleted or changed copies before the next generation reaches the cluster.
   */
  renderPlaced(request: PlacedRequest): Promise<ReadonlyMap<ClusterName, readonly RenderedObject[]>>;
  /** Renders a plan with one dry run per copy to write. Includes the preflight if `rollout.onFailure` is `Rollback`. */
  plan(request: PlanRequest): Promise<PropagationPlan>;
  /**
   * Plans like `plan`, and checks in each cluster whether the account that writes the copies has all needed rights
   * (docs/internals/propagation.md 5.5). A missing right is a note `PREFLIGHT_FAILED`.
   */
  preflight(request: PlanRequest): Promise<PropagationPlan>;
}
