import { expect, test } from 'vitest';
import { keyOfKind } from '../../src/core/kinds.ts';
import type { ImportResult } from '../../src/importers/model/import-result.ts';
import type { Imports } from '../../src/importers/model/imports.ts';
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
