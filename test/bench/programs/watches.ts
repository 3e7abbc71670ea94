// Opens 200 quiet watches and measures their CPU, memory and sockets.
//   watches.ts ours|client-node URL CA CONTROL
import { cpuNow, cpuSince, finish, reachableBytes, reached } from '../support/measuring.ts';

const [variant = '', url = '', ca = '', control = ''] = process.argv.slice(2);
const count = 200;
const counts = async (): Promise<{ others: number; sockets: number }> =>
  (await (await fetch(`${control}/counts`)).json()) as { others: number; sockets: number };
const open = variant === 'ours' ? await ours() : await clientNode();

// Opens one watch first, so that imports and the first handshake are not counted for the 200.
open(0);
await reached(async () => (await counts()).others === 1);
const before = await reachableBytes();
const start = cpuNow();
for (let index = 1; index <= count; index += 1) open(index);
await reached(async () => (await counts()).others === count + 1);
const cpu = cpuSince(start);
const { sockets } = await counts();
finish({ cpuMs: cpu.process, bytesEach: ((await reachableBytes()) - before) / count, sockets });

async function ours(): Promise<(index: number) => void> {
  const { connectToCanned } = await import('../support/canned-endpoint.ts');
  const { signal } = new AbortController();
  const api = connectToCanned({ url, ca, signal });
  const resource = {
    group: '',
    kind: 'ConfigMap',
    version: 'v1',
    versions: ['v1'],
    resource: 'configmaps',
    singular: 'configmap',
    namespaced: true,
    verbs: ['list', 'watch'],
    shortNames: [],
    categories: [],
  };
  return (index) =>
    void drain(
      api.watch({ resource, namespace: `team-${index}`, form: 'object', version: '', initialEvents: false, timeoutSeconds: 600 }, signal),
    );
}

async function drain(parts: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of parts);
}

async function clientNode(): Promise<(index: number) => void> {
  const { KubeConfig, Watch } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'bench', server: url, caData: Buffer.from(ca).toString('base64'), skipTLSVerify: false },
    { name: 'bench', token: 'bench' },
  );
  const watch = new Watch(config);
  return (index) =>
    void watch.watch(
      `/api/v1/namespaces/team-${index}/configmaps`,
      {},
      () => undefined,
      () => undefined,
    );
}
