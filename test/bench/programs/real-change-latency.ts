// Makes 50 changes a second on a real API server. Measures the age of each when our reader has it, and when `kubectl get --watch` prints
// it.
//   real-change-latency.ts CHANGES
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RealCluster, realPrograms, startRealCluster } from '../../support/cluster/real-cluster.ts';
import { finish } from '../support/measuring.ts';
import { startWholeGateway } from '../support/whole-gateway.ts';
import { stampNow, startReaders } from './readers.ts';

const changes = Number(process.argv[2] ?? '500');
const gapMs = 20;
const objectPath = '/api/v1/namespaces/default/configmaps';

let agent: Agent | undefined;
const cluster = await startRealCluster();
await send('POST', objectPath, { metadata: { name: 'watched', labels: { bench: '0' } } });
const port = await startWholeGateway(readFileSync(cluster.kubeconfigPath, 'utf8'));
using readers = startReaders();
const query =
  'subscription { configMaps(namespaces: "default") { type added { id metadata { labels } } modified { id metadata { labels } } deleted { id } } }';
await readers.ask({ type: 'open', protocol: 'websocket', port, query, sockets: 1, streamsEach: 1, frameBytes: 0 });
const kubectl = watchWithKubectl(cluster);
await kubectl.begun;
await change(50);
await readers.ask({ type: 'time' });
kubectl.ages.length = 0;
await change(changes);
await sleep(500);
const { p50Ms, p99Ms } = await readers.ask({ type: 'figures' });
const ages = kubectl.ages.toSorted((a, b) => a - b);
kubectl.end();
await cluster[Symbol.asyncDispose]();
const at = (share: number) => ages[Math.floor(ages.length * share)] ?? Number.NaN;
finish({ p50Ms: p50Ms ?? Number.NaN, p99Ms: p99Ms ?? Number.NaN, kubectlP50Ms: at(0.5), kubectlP99Ms: at(0.99), printed: ages.length });

async function change(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await Promise.all([send('PATCH', `${objectPath}/watched`, { metadata: { labels: { bench: stampNow() } } }), sleep(gapMs)]);
  }
}

function watchWithKubectl({ kubeconfigPath }: RealCluster) {
  const template = '{.metadata.labels.bench}{"\\n"}';
  const args = ['--kubeconfig', kubeconfigPath, 'get', 'configmaps', '-n', 'default', '--watch', '-o', `jsonpath=${template}`];
  const child = spawn(path.join(realPrograms ?? '', 'kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ages: number[] = [];
  const begun = Promise.withResolvers<void>();
  child.once('error', begun.reject);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    begun.resolve();
    const now = Number(stampNow());
    for (const line of text.split('\n')) if (Number(line) > 0) ages.push((now - Number(line)) / 1000);
  });
  return { ages, begun: begun.promise, end: () => void child.kill() };
}

function send(method: string, at: string, body: object): Promise<void> {
  const { url, caPem, certPem, keyPem } = cluster.endpoint;
  agent ??= new Agent({ keepAlive: true, ca: caPem, cert: certPem, key: keyPem });
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return new Promise((resolve, reject) => {
    const call = request(`${url}${at}`, { agent, method, headers: { 'content-type': type } }, (answer) => {
      answer
        .resume()
        .once('end', () => ((answer.statusCode ?? 0) < 300 ? resolve() : reject(new Error(`${method} ${at}: ${answer.statusCode}`))));
    });
    call.once('error', reject).end(JSON.stringify(body));
  });
}
