import { expect, test } from 'vitest';
import { graphOverMirrors } from '../../support/graph-over-mirrors.ts';
import { loadBaseline, objectNamed, servedAs } from '../../support/kubernetes-objects.ts';

const model = loadBaseline();
const served = ['Pod', 'Node', 'Service', 'ReplicaSet.apps', 'Deployment.apps'].map((key) => servedAs(model, key));
const [pods, nodes, services, replicaSets, deployments] = served as [(typeof served)[0], (typeof served)[0], (typeof served)[0], (typeof served)[0], (typeof served)[0]];

const ownedBy = (kind: string, name: string, uid: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
});

test('a Pod leads to its Node, its owners and its Services, over mirrors that run', async () => {
  const graph = graphOverMirrors({ model });
  const north = graph.mirrors.join('north');
  north.discover(...served);
  const labels = { app: 'web' };
  north.mirror(pods).list(objectNamed('web-1', { namespace: 'shop', labels, ...ownedBy('ReplicaSet', 'web-a', 'rs') }, { spec: { nodeName: 'n1' } }));
  north.mirror(nodes).list(objectNamed('n1'));
  north.mirror(services).list(objectNamed('web', { namespace: 'shop' }, { spec: { selector: labels } }));
  north.mirror(replicaSets).list(objectNamed('web-a', { namespace: 'shop', uid: 'rs', ...ownedBy('Deployment', 'web', 'd') }));
  north.mirror(deployments).list(objectNamed('web', { namespace: 'shop', uid: 'd' }, { spec: { selector: { matchLabels: labels } } }));
  const answer = await graph.ask(`{ pods { items {
    node { metadata { name } }
    owner { kind owner { kind metadata { name } ... on Deployment { pods { totalCount items { metadata { name } } } } } }
    services { totalCount items { metadata { name } } }
    metadata { ownerReferences { name resource { kind } } }
  } } }`);
  expect(answer.errors).toBeUndefined();
  expect(answer.faults).toEqual([]);
  expect(answer.at('pods.items')).toEqual([
    {
      node: { metadata: { name: 'n1' } },
      owner: { kind: 'ReplicaSet', owner: { kind: 'Deployment', metadata: { name: 'web' }, pods: { totalCount: 1, items: [{ metadata: { name: 'web-1' } }] } } },
      services: { totalCount: 1, items: [{ metadata: { name: 'web' } }] },
      metadata: { ownerReferences: [{ name: 'web-a', resource: { kind: 'ReplicaSet' } }] },
    },
  ]);
  expect(north.leases).toBe(0);
});
