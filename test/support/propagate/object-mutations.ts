import { expect } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { EmbeddedFleet } from './writing-fleet.ts';

/** One result in a GraphQL answer. */
interface ResultSeen {
  readonly cluster: { readonly name: string };
  readonly key: { readonly apiVersion: string; readonly kind: string; readonly namespace: string | null; readonly name: string };
  readonly action: string;
  readonly resource: { readonly object: JsonObject } | null;
  readonly diff: string | null;
  readonly warnings: readonly string[];
  readonly fault: {
    readonly code: string;
    readonly message: string;
    readonly status: { readonly reason: string | null; readonly message: string } | null;
  } | null;
}

export interface OutcomeOfWrites {
  readonly ok: boolean;
  readonly results: readonly ResultSeen[];
}

/** Returns for each result the cluster, and the code of its fault or the action. */
export function brief({ results }: OutcomeOfWrites): readonly (readonly [string, string])[] {
  return results.map(({ cluster, action, fault }) => [cluster.name, fault?.code ?? action]);
}

const fields =
  'ok results { cluster { name } key { apiVersion kind namespace name } action resource { object } diff warnings fault { code message status { reason message } } }';

/** Makes functions for mutations of single objects, mostly in the cluster `south` and the namespace of the fleet. */
export function createMutations(fleetOf: () => EmbeddedFleet) {
  /** Sends one mutation, with its arguments and their GraphQL types. */
  async function mutate(field: string, args: Readonly<Record<string, readonly [type: string, value: Json]>>): Promise<OutcomeOfWrites> {
    const declared = Object.entries(args).map(([name, [type]]) => `$${name}: ${type}`);
    const given = Object.keys(args).map((name) => `${name}: $${name}`);
    const text = `mutation (${declared.join(', ')}) { done: ${field}(${given.join(', ')}) { ${fields} } }`;
    const values = Object.fromEntries(Object.entries(args).map(([name, [, value]]) => [name, value]));
    return (await fleetOf().query<{ done: OutcomeOfWrites }>(text, values)).done;
  }

  const apply = (json: JsonObject, { dryRun = false, force = false, clusters = ['south'] } = {}) =>
    mutate('apply', {
      manifests: ['[Manifest!]!', [{ json }]],
      clusters: ['[String!]!', clusters],
      dryRun: ['Boolean', dryRun],
      force: ['Boolean', force],
    });

  const onTargets = (field: string, targets: readonly Json[], more: Readonly<Record<string, readonly [string, Json]>> = {}) =>
    mutate(field, { targets: ['[Target!]!', targets], ...more });

  const configMap = (name: string, data: Readonly<Record<string, string>>): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: fleetOf().namespace },
    data,
  });

  function workload(name: string, kind = 'Deployment', spec: JsonObject = {}): JsonObject {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'registry.example.com/web:1.0' }] } };
    return {
      apiVersion: 'apps/v1',
      kind,
      metadata: { name, namespace: fleetOf().namespace },
      spec: { ...(kind === 'DaemonSet' ? {} : { replicas: 2 }), selector: { matchLabels: labels }, template, ...spec },
    };
  }

  const refOf = (name: string, kind = 'ConfigMap', more: JsonObject = {}): Json => ({
    ref: {
      cluster: 'south',
      apiVersion: kind === 'ConfigMap' || kind === 'Secret' ? 'v1' : 'apps/v1',
      kind,
      namespace: fleetOf().namespace,
      name,
      ...more,
    },
  });

  const south = (kind: string, name: string) => fleetOf().cluster('south').get(kind, name, fleetOf().namespace);

  /** Runs the work and expects that it changes no object in any cluster. */
  async function unchanged<T>(work: () => Promise<T>): Promise<T> {
    const state = () =>
      JSON.stringify(
        fleetOf().names.map((name) =>
          ['ConfigMap', 'Deployment.apps', 'Secret'].map((kind) => fleetOf().cluster(name).list(kind, fleetOf().namespace).items),
        ),
      );
    const before = state();
    const done = await work();
    expect(state()).toBe(before);
    return done;
  }

  return { mutate, apply, onTargets, configMap, workload, refOf, south, unchanged };
}
