import { expect } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { TestGateway } from '../../support/gateway/start-gateway.ts';

/** The fields of an import that tests read. */
export interface Imported {
  readonly propagations: readonly {
    readonly system: string;
    readonly input: JsonObject & { readonly name: string; readonly namespace: string };
    readonly documents: readonly { readonly role: string; readonly key: { readonly kind: string; readonly name: string } }[];
    readonly notes: readonly { readonly code: string }[];
  }[];
  readonly unread: readonly { readonly key: { readonly kind: string; readonly name: string } }[];
  readonly notes: readonly { readonly severity: string; readonly code: string; readonly message: string }[];
  readonly faults: readonly { readonly code: string }[];
}

const importQuery = `query ($cluster: String!, $kinds: [String!], $namespaces: [String!], $exact: Boolean) {
  importFromCluster(cluster: $cluster, kinds: $kinds, namespaces: $namespaces, exact: $exact) {
    propagations { system input documents { role key { kind name } } notes { code } }
    unread { key { kind name } } notes { severity code message } faults { code } } }`;
const planQuery = `query ($input: PropagationInput!) { planPropagation(input: $input) { ok
  clusters { cluster { name } chosen share { to } objects { action diff fault { message } } } } }`;

/** Imports from a cluster. */
export async function imported(gateway: TestGateway, cluster: string, variables: Readonly<Record<string, Json>> = {}): Promise<Imported> {
  const { importFromCluster } = await gateway.query<{ importFromCluster: Imported }>(importQuery, { cluster, ...variables });
  return importFromCluster;
}

interface Plan {
  readonly ok: boolean;
  readonly clusters: readonly {
    readonly cluster: { readonly name: string };
    readonly chosen: boolean;
    readonly objects: readonly {
      readonly action: string;
      readonly diff: string | null;
      readonly fault: { readonly message: string } | null;
    }[];
  }[];
}

/** Returns the chosen clusters of the plan, each with the action and the difference or the fault of each object. */
export async function planned(gateway: TestGateway, input: Json) {
  const { planPropagation } = await gateway.query<{ planPropagation: Plan }>(planQuery, { input });
  return planPropagation.clusters
    .filter(({ chosen }) => chosen)
    .map(({ cluster, objects }) => [cluster.name, objects.map(({ action, diff, fault }) => [action, fault?.message ?? diff ?? ''])]);
}

type Place = Readonly<Record<'namespace' | 'name', string>>;

/** Propagates the input, and waits until it is settled. */
export async function propagated(gateway: TestGateway, input: JsonObject & Place): Promise<void> {
  const mutation = 'mutation ($input: PropagationInput!) { propagate(input: $input) { result notes { message } } }';
  const { propagate } = await gateway.query<{ propagate: Json }>(mutation, { input });
  expect(propagate).toMatchObject({ result: 'ACCEPTED' });
  await gateway.until(async () => (await phaseOf(gateway, input)) === 'SETTLED');
}

async function phaseOf(gateway: TestGateway, { namespace, name }: Place): Promise<string | undefined> {
  const query = 'query ($namespace: String!, $name: String!) { propagation(namespace: $namespace, name: $name) { phase } }';
  return (await gateway.query<{ propagation: { phase: string } | null }>(query, { namespace, name })).propagation?.phase;
}

/** Deletes the Propagation with the policy ORPHAN, and waits until it is gone. */
export async function deletedWithOrphan(gateway: TestGateway, { namespace, name }: Place): Promise<void> {
  const mutation = `mutation ($namespace: String!, $name: String!) {
    deletePropagation(namespace: $namespace, name: $name, deletion: { policy: ORPHAN }) { result } }`;
  await gateway.query(mutation, { namespace, name });
  await gateway.until(async () => (await phaseOf(gateway, { namespace, name })) === undefined);
}
