import type { JsonObject } from '../../../src/core/json.ts';
import type { ApiBody } from '../clients/raw-client.ts';
import type { WritingFleet } from './writing-fleet.ts';

/** A note in a GraphQL answer. */
interface NoteSeen {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly path: string | null;
}

export interface OutcomeSeen {
  readonly result: string;
  readonly notes: readonly NoteSeen[];
  readonly plan: PlanSeen | null;
  readonly propagation: { readonly generation: number; readonly spec: JsonObject } | null;
}

export interface PlanSeen {
  readonly digest: string;
  readonly ok: boolean;
  readonly notes: readonly NoteSeen[];
  readonly clusters: readonly {
    readonly cluster: { readonly name: string };
    readonly chosen: boolean;
    readonly reason: string | null;
    readonly objects: readonly {
      readonly key: { readonly kind: string; readonly name: string };
      readonly action: string;
      readonly manifest: JsonObject;
      readonly diff: string | null;
      readonly conflicts: readonly { readonly manager: string; readonly path: string }[];
      readonly fault: { readonly code: string; readonly message: string } | null;
    }[];
    readonly fault: { readonly code: string } | null;
  }[];
}

interface LineSeen {
  readonly cluster: { readonly name: string };
  readonly phase: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly objects: readonly {
    readonly key: { readonly kind: string; readonly name: string };
    readonly state: string;
    readonly uid: string | null;
    readonly action: string | null;
    readonly fault: { readonly code: string; readonly message: string; readonly sinceSeconds?: number } | null;
  }[];
  readonly fault: { readonly code: string; readonly message: string } | null;
}

export interface PropagationSeen {
  readonly generation: number;
  readonly observedGeneration: number;
  readonly revision: number;
  readonly phase: string;
  readonly spec: JsonObject;
  readonly clusters: readonly LineSeen[];
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
  readonly notes: readonly NoteSeen[];
  readonly completion: { readonly done: boolean; readonly complete: number } | null;
}

const noteFields = 'notes { severity code message path }';
const planFields = `digest ok ${noteFields} clusters { cluster { name } chosen reason objects {
  key { kind name } action manifest diff conflicts { manager path } fault { code message } } fault { code } }`;
const outcomeFields = `result ${noteFields} plan { ${planFields} } propagation { generation spec }`;
const propagationFields = `generation observedGeneration revision phase spec
  clusters { cluster { name } phase reason message objects { key { kind name } state uid action fault { code message } } fault { code message } }
  conditions { type status reason message } ${noteFields} completion { done complete }`;

/** Makes an intent in the fleet's namespace on the hub. */
export function intentOf(
  fleet: Pick<WritingFleet, 'namespace'>,
  name: string,
  template: readonly JsonObject[],
  more: JsonObject = {},
): JsonObject {
  return { namespace: fleet.namespace, name, template: template.map((json) => ({ json })), placement: {}, ...more };
}

export async function propagate(fleet: WritingFleet, input: JsonObject, digest?: string): Promise<OutcomeSeen> {
  const text = `mutation ($input: PropagationInput!, $digest: String) { propagate(input: $input, digest: $digest) { ${outcomeFields} } }`;
  return (await fleet.query<{ propagate: OutcomeSeen }>(text, { input, digest: digest ?? null })).propagate;
}

/**
 * Propagates an intent.
 *
 * @throws {Error} unless it was accepted.
 */
export async function propagated(fleet: WritingFleet, input: JsonObject, digest?: string): Promise<OutcomeSeen> {
  const outcome = await propagate(fleet, input, digest);
  if (outcome.result !== 'ACCEPTED') throw new Error(`expected it to be accepted, got ${JSON.stringify(outcome)}`);
  return outcome;
}

export async function planned(fleet: WritingFleet, input: JsonObject): Promise<PlanSeen> {
  const text = `query ($input: PropagationInput!) { planPropagation(input: $input) { ${planFields} } }`;
  return (await fleet.query<{ planPropagation: PlanSeen }>(text, { input })).planPropagation;
}

/** Sends a mutation for a named Propagation. `more` has further arguments in GraphQL syntax: `confirmPrune: true`. */
export async function told(fleet: WritingFleet, verb: string, name: string, more = ''): Promise<OutcomeSeen> {
  const text = `mutation { ${verb}Propagation(namespace: "${fleet.namespace}", name: "${name}" ${more}) { ${outcomeFields} } }`;
  const outcomes = Object.values(await fleet.query<Record<string, OutcomeSeen>>(text));
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('expected an outcome');
  return outcome;
}

export async function stateOf(fleet: WritingFleet, name: string): Promise<PropagationSeen | null> {
  const text = `{ propagation(namespace: "${fleet.namespace}", name: "${name}") { ${propagationFields} } }`;
  return (await fleet.query<{ propagation: PropagationSeen | null }>(text)).propagation;
}

/**
 * Waits until the newest generation of the Propagation is in this phase.
 *
 * @throws {Error} with its current phase.
 */
export async function phaseOf(fleet: WritingFleet, name: string, phase: string, withinMs?: number): Promise<PropagationSeen> {
  return await stateWhere(fleet, name, (now) => now.phase === phase && now.observedGeneration === now.generation, withinMs);
}

/**
 * Waits until the condition holds for the Propagation.
 *
 * @throws {Error} with its last state.
 */
export async function stateWhere(
  fleet: WritingFleet,
  name: string,
  isSo: (now: PropagationSeen) => boolean,
  withinMs?: number,
): Promise<PropagationSeen> {
  let now = await stateOf(fleet, name);
  try {
    await fleet.until(async () => {
      now = await stateOf(fleet, name);
      return now !== null && isSo(now);
    }, withinMs);
  } catch {
    throw new Error(`expected ${isSo}, got ${JSON.stringify(now, null, 1)}`);
  }
  if (now === null) throw new Error(`expected ${name} to be there`);
  return now;
}

/** Returns the cluster, phase and reason of each line. */
export function linesOf({ clusters }: PropagationSeen): readonly (readonly [string, string, string])[] {
  return clusters.map(({ cluster, phase, reason }) => [cluster.name, phase, reason ?? '']);
}

/** Returns the path of a ConfigMap in the fleet's namespace. */
export function configMapAt({ namespace }: Pick<WritingFleet, 'namespace'>, name: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

export function configMapOf(
  { namespace }: Pick<WritingFleet, 'namespace'>,
  name: string,
  data: Readonly<Record<string, string>>,
): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

/** Returns the object at the path in the cluster. Undefined if it does not exist. */
export async function objectAt(fleet: WritingFleet, cluster: string, path: string): Promise<ApiBody | undefined> {
  const answer = await fleet.send(cluster, 'GET', path);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw new Error(`expected ${path} of ${cluster}, got ${answer.text}`);
  return answer.json();
}

/** Returns the data of a ConfigMap in each cluster. Undefined where it does not exist. */
export async function dataIn(fleet: WritingFleet, name: string): Promise<readonly (Readonly<Record<string, string>> | undefined)[]> {
  return await Promise.all(fleet.names.map(async (cluster) => (await objectAt(fleet, cluster, configMapAt(fleet, name)))?.data));
}

/**
 * Applies an object as another client, in the fleet's namespace or in none. Returns the new object.
 *
 * @throws {Error} if the request fails.
 */
export async function othersApply(
  fleet: WritingFleet,
  cluster: string,
  { path, body, manager = 'kubectl' }: { readonly path: string; readonly body: JsonObject; readonly manager?: string },
): Promise<ApiBody> {
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const answer = await fleet.send(cluster, 'PATCH', `${path}?fieldManager=${manager}&force=true`, { body, headers });
  if (answer.status !== 200 && answer.status !== 201) throw new Error(`expected ${path} to be applied, got ${answer.text}`);
  return answer.json();
}

/**
 * Merges a patch into an object, as another client.
 *
 * @throws {Error} if the request fails.
 */
export async function othersMerge(fleet: WritingFleet, cluster: string, path: string, body: JsonObject): Promise<ApiBody> {
  const headers = { 'content-type': 'application/merge-patch+json' };
  const answer = await fleet.send(cluster, 'PATCH', `${path}?fieldManager=kubectl-edit`, { body, headers });
  if (answer.status !== 200) throw new Error(`expected ${path} to be merged, got ${answer.text}`);
  return answer.json();
}

/**
 * Deletes an object, as another client.
 *
 * @throws {Error} if the request fails.
 */
export async function othersDelete(fleet: WritingFleet, cluster: string, path: string): Promise<void> {
  const answer = await fleet.send(cluster, 'DELETE', path);
  if (answer.status !== 200) throw new Error(`expected ${path} to be deleted, got ${answer.text}`);
}
