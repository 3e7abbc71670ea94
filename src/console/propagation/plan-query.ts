import { fullObjectName, objectOfKey } from '../../core/columns/object-names.ts';
import { type AnsweredClusterPlan, type AnsweredObjectPlan, type AnsweredPlan, planSelection } from '../../core/columns/plan-texts.ts';
import type { Json } from '../../core/json.ts';
import { type ShownFault, shownFaultFields } from '../gateway/faults.ts';
import { request } from '../gateway/graphql.ts';
import { type AnsweredSync, problemOfSync } from '../objects/answers.ts';

/** The planned change of one object. */
export type ShownObjectPlan = AnsweredObjectPlan<ShownFault>;

/** The planned changes of one cluster. */
export type ShownClusterPlan = AnsweredClusterPlan<ShownFault>;

/** A plan, as the console shows it. */
export type ShownPlan = Omit<AnsweredPlan<ShownFault>, 'sync'> & { readonly sync: readonly ShownPlanSync[] };

/** How current the gateway's knowledge of a kind in a cluster was for the plan. */
interface ShownPlanSync extends AnsweredSync {
  readonly cluster: { readonly name: string };
}

/** The GraphQL selection that gives a `ShownPlan`. */
export const shownPlanFields = planSelection(shownFaultFields, { sync: 'ageSeconds fault { code message }' });

/** Plans an intent. Nothing is written. */
export async function planIntent(input: Json, signal?: AbortSignal): Promise<ShownPlan> {
  const query = `query ($input: PropagationInput!) { planPropagation(input: $input) { ${shownPlanFields} } }`;
  return (await request<{ readonly planPropagation: ShownPlan }>(query, { input }, signal)).planPropagation;
}

/** Returns the names of the clusters in which a plan changes an object. An object with the action HOLD is left as it is. */
export function changedClusters({ clusters }: ShownPlan): readonly string[] {
  return clusters
    .filter(({ objects }) => objects.some(({ action }) => action !== 'UNCHANGED' && action !== 'HOLD'))
    .map(({ cluster }) => cluster.name);
}

/** Returns the name of an object of a plan: `north/shop/configmap/web`. */
export function nameOfPlanned(cluster: string, { key }: ShownObjectPlan): string {
  return fullObjectName(cluster, objectOfKey(key));
}

/** Returns a sentence for each cluster that does not answer: its part of the plan was made from its last known state. */
export function silentInPlan({ sync }: ShownPlan): readonly string[] {
  const problems = new Map(
    sync.map((one) => [one.cluster.name, problemOfSync(one)] as const).filter(([, problem]) => problem !== undefined),
  );
  return [...problems].map(([cluster, problem]) => `${cluster} ${problem}. Its part of the plan is from its last known state.`);
}
