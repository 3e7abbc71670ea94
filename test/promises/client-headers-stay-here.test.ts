import { expect } from 'vitest';
import { WebSocket } from 'ws';
import type { KubernetesObject } from '../../src/core/objects.ts';
import { bindingOf, roleOf, ruleOf } from '../access/reviewed/access-world.ts';
import { testOnRbacGrounds } from '../support/gateway/rbac-grounds.ts';
import { runSharedGateway } from '../support/gateway/run-shared-gateway.ts';
import { rawRequest } from '../support/serving/start-serving.ts';

// E7: no header of a client reaches an API server, and none changes the identity with which the gateway acts.

const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'shop' }, data: { a: '1' } };
const objects: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bank' } },
  settings,
  { ...settings, metadata: { name: 'ledger', namespace: 'bank' } },
  roleOf(undefined, 'writer', ruleOf(['get', 'list', 'watch', 'patch', 'create'], [''], ['configmaps'])),
  bindingOf('shop', 'ann', 'ClusterRole/writer', 'User/oidc:ann'),
  bindingOf(undefined, 'admin', 'ClusterRole/writer', 'User/admin'),
];

/** Headers with which clients of other gateways took the identity of another user. */
const attacks: readonly (readonly [string, Readonly<Record<string, string | string[]>>])[] = [
  ['Impersonate-User', { 'Impersonate-User': 'admin' }],
  [
    'all headers of impersonation',
    { 'Impersonate-User': 'admin', 'Impersonate-Group': 'system:masters', 'Impersonate-Uid': '1', 'Impersonate-Extra-Scopes': 'all' },
  ],
  ['Connection that names them', { 'Impersonate-User': 'admin', Connection: 'close, Impersonate-User, Authorization' }],
  ['repeated headers', { 'Impersonate-User': ['oidc:ann', 'admin'], 'Impersonate-Group': ['a', 'system:masters'] }],
  ['underscores', { Impersonate_User: 'admin', IMPERSONATE_GROUP: 'system:masters' }],
  [
    'headers of proxies',
    {
      'X-Remote-User': 'admin',
      'X-Remote-Group': 'system:masters',
      'X-Forwarded-User': 'admin',
      'X-Forwarded-For': '10.0.0.1',
      Forwarded: 'for=10.0.0.1',
    },
  ],
  [
    'headers of tracing and routing',
    { Host: 'admin.example.com', 'X-Original-URL': '/api/v1/secrets', 'X-HTTP-Method-Override': 'DELETE', Via: 'x', Cookie: 'a=b' },
  ],
];
const clientHeader = /^(?:x-|impersonate_|forwarded|via|cookie|host-)/;

const read = (cluster: string, namespace: string, name: string) =>
  `{ configMap(cluster: "${cluster}", namespace: "${namespace}", name: "${name}", live: true) { metadata { name } } }`;
const write = (cluster: string, namespace: string, name: string) =>
  `mutation { patch(targets: [{ ref: { cluster: "${cluster}", kind: "ConfigMap", apiVersion: "v1", namespace: "${namespace}", name: "${name}" } }], type: MERGE, patch: { data: { b: "2" } }) { results { action fault { code } } } }`;

testOnRbacGrounds(
  'E7: reads and writes with foreign headers are made as the caller, over HTTP, SSE and WebSocket',
  objects,
  async (ground) => {
    await using gateway = await runSharedGateway(ground.reach);
    const origin = new URL(gateway.url).origin;
    const cluster = await gateway.firstCluster('ann');
    for (const [what, foreign] of attacks)
      for (const accept of ['application/json', 'text/event-stream']) {
        const headers = { 'content-type': 'application/json', accept, ...gateway.as('ann'), ...foreign };
        const send = async (query: string) =>
          (await rawRequest(origin, { method: 'POST', path: '/graphql', headers, body: JSON.stringify({ query }) })).text;
        expect(await send(read(cluster, 'shop', 'settings')), what).toContain('"name":"settings"');
        expect(await send(read(cluster, 'bank', 'ledger')), what).not.toContain('"name":"ledger"');
        expect(await send(write(cluster, 'shop', 'settings')), what).toMatch(/"action":"(?:CONFIGURED|UNCHANGED)"/);
        expect(await send(write(cluster, 'bank', 'ledger')), what).toContain('"code":"NOT_FOUND"');
      }
    for (const [what, { Connection: _connection, Host: _host, ...foreign }] of attacks) {
      expect(await firstOverSocket(gateway.url, { ...gateway.as('ann'), ...foreign }, read(cluster, 'shop', 'settings')), what).toContain(
        '"name":"settings"',
      );
      expect(await firstOverSocket(gateway.url, { ...gateway.as('ann'), ...foreign }, read(cluster, 'bank', 'ledger')), what).not.toContain(
        '"ledger"',
      );
    }
    expect(await ground.impersonated()).toEqual(['oidc:ann']);
    expect([...(ground.headerNames() ?? [])].filter((name) => clientHeader.test(name))).toEqual([]);
  },
);

/** Sends one operation over a WebSocket whose upgrade has these headers, and returns the messages about it. */
async function firstOverSocket(url: string, headers: Readonly<Record<string, string | string[]>>, query: string): Promise<string> {
  const ws = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', { headers: headers as Record<string, string> });
  const messages: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  ws.on('open', () => ws.send(JSON.stringify({ type: 'connection_init' })));
  ws.on('error', reject);
  ws.on('close', () => resolve());
  ws.on('message', (data) => {
    const message = JSON.parse(String(data)) as { readonly type: string };
    if (message.type === 'connection_ack') ws.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
    else messages.push(String(data));
    if (message.type === 'complete' || message.type === 'error') ws.close();
  });
  await promise;
  return messages.join('\n');
}
