import { expect, test } from 'vitest';
import { keyOfKind } from '../../src/core/kinds.ts';
import type { ImportResult } from '../../src/importers/model/import-result.ts';
import type { Imports } from '../../src/importers/model/imports.ts';
import { importText } from '../../src/importers/translation/import-documents.ts';
import { graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

// Imports in the graph, over a scripted port: the fields of answers, and the calls of the port.

const model = loadBaseline();
const nothing: ImportResult = { propagations: [], unread: [], notes: [], faults: [] };
const key = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

test('an import shows each Propagation with its documents and notes, and the unread documents', async () => {
  const requests: unknown[] = [];
  const imports: Imports = {
    importFromCluster: async () => nothing,
    async importManifests(_caller, request) {
      requests.push(request);
      const note = { severity: 'INFO', code: 'STATIC_FROM_ZERO', message: 'Karmada divides again', path: '[1].spec' } as const;
      return {
        propagations: [
          {
            system: 'FederationV1',
            input: { namespace: 'a', name: 'web' },
            documents: [{ index: 0, key, role: 'TEMPLATE' }],
            notes: [note],
          },
        ],
        unread: [{ index: 1, role: 'OTHER' }],
        notes: [{ severity: 'ERROR', code: 'INVALID', message: 'wrong' }],
        faults: [],
      };
    },
  };
  const graph = graphOverMirrors({ model, writing: { imports } });
  const result = await graph.ask(`{ importManifests(yaml: "kind: A") {
    propagations { system input documents { index role key { kind name namespace } } notes { severity code message path } }
    unread { index role key { kind } } notes { severity code message path } faults { code }
  } }`);
  expect(result.errors).toBeUndefined();
  expect(requests).toEqual([{ yaml: 'kind: A', exact: false }]);
  expect(result.data).toEqual({
    importManifests: {
      propagations: [
        {
          system: 'FEDERATION_V1',
          input: { namespace: 'a', name: 'web' },
          documents: [{ index: 0, role: 'TEMPLATE', key: { kind: 'Deployment', name: 'web', namespace: null } }],
          notes: [{ severity: 'INFO', code: 'STATIC_FROM_ZERO', message: 'Karmada divides again', path: '[1].spec' }],
        },
      ],
      unread: [{ index: 1, role: 'OTHER', key: null }],
      notes: [{ severity: 'ERROR', code: 'INVALID', message: 'wrong', path: null }],
      faults: [],
    },
  });
});

test('an import of 500 resources fits into one answer, with its documents and notes', async () => {
  const dep = (index: number) =>
    `{ apiVersion: apps/v1, kind: Deployment, metadata: { name: d${index}, namespace: shop }, spec: { replicas: 1 } }`;
  const rules = '{ overrideRules: [{ overriders: { labelsOverrider: [{ operator: add, value: { a: b } }] } }] }';
  const overrides = Array.from(
    { length: 20 },
    (_, index) =>
      `{ apiVersion: policy.karmada.io/v1alpha1, kind: OverridePolicy, metadata: { name: o${index}, namespace: shop }, spec: ${rules} }`,
  );
  const names = Array.from({ length: 9 }, (_, index) => `nope${index}`).join(', ');
  const policy = `{ apiVersion: policy.karmada.io/v1alpha1, kind: PropagationPolicy, metadata: { name: all, namespace: shop },
    spec: { resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }], placement: { clusterAffinity: { clusterNames: [${names}] } } } }`;
  const text = [...Array.from({ length: 500 }, (_, index) => dep(index)), ...overrides, policy].join('\n---\n');
  const imports: Imports = {
    importFromCluster: async () => nothing,
    importManifests: async ({ timeSlices }, { yaml }) => timeSlices.run(importText(yaml, { isExact: false, clusters: [] })),
  };
  const graph = graphOverMirrors({ model, writing: { imports } });
  const result = await graph.ask(
    `{ importManifests(yaml: ${JSON.stringify(text)}) { propagations { documents { index } notes { code message } } } }`,
  );
  expect(result.errors).toBeUndefined();
  const propagations = Object(result.data).importManifests.propagations;
  expect([propagations.length, propagations[0].documents.length]).toEqual([500, 22]);
  expect(propagations[0].notes).toEqual([{ code: 'UNKNOWN_CLUSTER', message: expect.stringContaining('"nope0", "nope1"') }]);
});

test('an import from a cluster takes kinds by any of their names', async () => {
  const requests: unknown[] = [];
  const imports: Imports = {
    importManifests: async () => nothing,
    async importFromCluster(_caller, { kinds, ...request }) {
      requests.push({ ...request, kinds: kinds?.map(keyOfKind) });
      return nothing;
    },
  };
  const graph = graphOverMirrors({ model, writing: { imports } });
  const ask = (text: string) => graph.ask(`{ importFromCluster(${text}) { faults { code } } }`);
  await ask('cluster: "host"');
  await ask('cluster: "host", kinds: ["deploy", "v1.configmaps", "Job.batch"], namespaces: ["shop"], exact: true');
  expect(requests).toEqual([
    { cluster: 'host', exact: false },
    { cluster: 'host', exact: true, namespaces: ['shop'], kinds: ['Deployment.apps', 'ConfigMap', 'Job.batch'] },
  ]);
  const wrong = await ask('cluster: "host", kinds: ["deploymint"]');
  expect(wrong.errors?.[0]?.message).toBe('no kind deploymint; did you mean Deployment?');
});
