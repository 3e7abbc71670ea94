// Lists and parses with bare requests what a gateway mirrors of each cluster of a kubeconfig but the first: discovery, Namespaces, Nodes,
// definitions, APIServices and ConfigMaps. Twenty clusters at a time.
//   bare-lists.ts KUBECONFIG
import { Agent, request } from 'undici';
import { loadKubeconfig } from '../../../src/cluster/kubeconfig/kubeconfig.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const paths = [
  '/version',
  '/api',
  '/apis',
  '/api/v1/namespaces/kube-system',
  '/api/v1/namespaces',
  '/api/v1/nodes',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/apiregistration.k8s.io/v1/apiservices',
  '/api/v1/configmaps',
];

const [kubeconfig = ''] = process.argv.slice(2);
const loaded = await loadKubeconfig({ file: kubeconfig, environment: {} });
const waiting = (loaded?.contexts ?? []).slice(1);
const from = performance.now();
const cpu = cpuNow();
let held = 0;

async function listAll(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (next.result !== 'usable') throw new Error(next.problem);
    const { server, trust, credentials } = next.endpoint;
    const ca = trust.type === 'authority' && trust.certificates.type === 'data' ? Buffer.from(trust.certificates.data) : '';
    const dispatcher = new Agent({ connect: { ca }, allowH2: true });
    const headers = { authorization: `Bearer ${credentials.type === 'token' ? credentials.token : ''}` };
    for (const path of paths) {
      const { body } = await request(`${server}${path}`, { dispatcher, headers });
      const list = (await body.json()) as { readonly items?: readonly unknown[] };
      held += list.items?.length ?? 0;
    }
    await dispatcher.close();
  }
}

await Promise.all(Array.from({ length: 20 }, listAll));
const used = cpuSince(cpu);
finish({ ms: performance.now() - from, mainMs: used.main, held });
