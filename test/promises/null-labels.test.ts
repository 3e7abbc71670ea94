import { expect, test } from 'vitest';
import type { ObjectMetadata } from '../../src/core/objects.ts';
import { type Listed, startGateway } from '../support/gateway/start-gateway.ts';
import { pod } from '../support/workloads.ts';

// "Values come back as they are": labels and annotations that are null count as absent.

const nulls: Partial<ObjectMetadata> = { labels: null, annotations: null };
const configMap =
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n  namespace: default\n  labels:\n  annotations:\ndata: { a: b }\n';

async function start() {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', ...nulls } };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default', ...nulls }, data: {} };
  return startGateway({ north: [pod('web', nulls), pod('api'), node, secret], south: [] }, { hub: 'north' });
}

test('every field and filter of metadata answers for null labels and annotations', async () => {
  await using gateway = await start();
  const metadata = 'metadata { name labels annotations some: annotations(keys: ["b"]) label(key: "a") annotation(key: "b") }';
  const empty = { labels: null, annotations: null, some: null, label: null, annotation: null };
  const { pods, secrets } = await gateway.query<Readonly<Record<'pods' | 'secrets', Listed>>>(
    `{ pods(labels: "app!=api") { items { ${metadata} } } secrets { items { ${metadata} } } }`,
  );
  expect(pods.items).toEqual([{ metadata: { name: 'web', ...empty } }]);
  expect(secrets.items).toEqual([{ metadata: { name: 's', ...empty } }]);
  expect(await gateway.query('{ clusters { name region } }')).toEqual({
    clusters: ['north', 'south'].map((name) => ({ name, region: null })),
  });
  expect(await gateway.query('{ secret(cluster: "north", namespace: "default", name: "s", live: true) { metadata { labels } } }')).toEqual({
    secret: { metadata: { labels: null } },
  });
});

test('manifests with null labels and annotations are applied and propagated', async () => {
  await using gateway = await start();
  const applied = await gateway.query(
    'mutation ($yaml: String!) { apply(manifests: [{ yaml: $yaml }], clusters: ["south"]) { results { fault { message } } } }',
    { yaml: configMap },
  );
  expect(applied).toEqual({ apply: { results: [{ fault: null }] } });
  const planned = await gateway.query(
    `query ($yaml: String!) {
      planPropagation(input: { namespace: "default", name: "p", template: [{ yaml: $yaml }], placement: { clusters: ["south"] } }) { digest }
    }`,
    { yaml: configMap },
  );
  expect(planned).toEqual({ planPropagation: { digest: expect.stringMatching(/./) } });
});
