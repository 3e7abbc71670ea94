import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { type Listed, startGateway } from '../support/gateway/start-gateway.ts';
import { pod, widget, widgetDefinition } from '../support/workloads.ts';

// "No caller sees more because of a failure."

const allPods = '{ pods(waitSeconds: 0) { items { metadata { name } } faults { code cluster { name } } } }';

test('B14: objects without the right to read disappear after a minute, other kinds stay, and they return once the right is granted again', async () => {
  await using gateway = await startGateway({ north: [pod('web')], south: [pod('api')] });
  await gateway.query('{ pods { totalCount } }');
  const south = gateway.cluster('south');
  const names = async () => (await gateway.query<{ pods: Listed }>(allPods)).pods.items.map(({ metadata }) => metadata.name);
  {
    using _forbidden = south.forbid({ kind: 'Pod' });
    south.close({ resource: 'pods' });
    await gateway.until(async () => !(await names()).includes('api'), 90_000);
    const { pods } = await gateway.query<{ pods: Listed }>(allPods);
    expect(pods.faults).toEqual([{ code: 'FORBIDDEN', cluster: { name: 'south' } }]);
    expect(await names()).toEqual(['web']);
    const { namespaces } = await gateway.query<{ namespaces: Listed }>('{ namespaces { totalCount faults { code } } }');
    expect(namespaces).toEqual({ totalCount: 8, faults: [] });
  }
  await gateway.until(async () => (await names()).includes('api'), 15 * 60_000);
});

test('a Secret in a list shows that it exists, and none of its values', async () => {
  const value = 'c2VjcmV0LXZhbHVl';
  const secret: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'token',
      namespace: 'default',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"key":"${value}"}}` },
    },
    type: 'Opaque',
    data: { key: value },
  };
  await using gateway = await startGateway({ north: [secret] });
  const answer = await gateway.ask(`{
    secrets { items { metadata { name annotations } object yaml } }
    resources(kinds: ["Secret"]) { items { object yaml } }
  }`);
  expect(JSON.stringify(answer)).toContain('"name":"token"');
  expect(JSON.stringify(answer)).not.toContain(value);
});

test('a kind that the config calls sensitive is as confidential as Secrets, from its definition on', async () => {
  const configFile = { sensitiveKinds: ['Widget.example.com'] };
  const value = 4711;
  await using gateway = await startGateway({ north: [widgetDefinition(), widget('press', { size: value })] }, { configFile });
  const lists =
    '{ exampleWidgets { items { metadata { name } spec { size } object yaml } } resources(kinds: ["Widget"]) { items { object yaml } } }';
  const listed = JSON.stringify(await gateway.query(lists));
  expect(listed).toContain('"name":"press"');
  expect(listed).not.toContain(String(value));
  const filtered = await gateway.ask('{ exampleWidgets(where: { path: "spec.size", eq: 4711 }) { totalCount } }');
  expect(filtered.errors?.[0]?.message).toMatch(/only the metadata of Widget\.example\.com is mirrored/);
  const held = await gateway.ask('{ exampleWidget(cluster: "north", namespace: "default", name: "press") { spec { size } } }');
  expect(held.errors?.[0]?.extensions.code).toBe('BAD_INPUT');
  const live = await gateway.query(
    '{ exampleWidget(cluster: "north", namespace: "default", name: "press", live: true) { spec { size } } }',
  );
  expect(live).toEqual({ exampleWidget: { spec: { size: value } } });
});
