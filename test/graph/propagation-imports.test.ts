import { expect, test } from 'vitest';
import type { Imports } from '../../src/importers/model/imports.ts';
import { graphOverMirrors } from '../support/graph/graph-over-mirrors.ts';
import { loadBaseline } from '../support/kubernetes-objects.ts';

// Imports in the graph, over a scripted port: the fields of answers, and the calls of the port.

const model = loadBaseline();
const key = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

test('an import shows each Propagation with its documents and notes, and the unread documents', async () => {
  const requests: unknown[] = [];
  const imports: Imports = {
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
