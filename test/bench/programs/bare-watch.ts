// Measures the bare Watch of client-node over the canned server. It parses each event and passes it on, but holds no objects.
//   bare-watch.ts URL CA CONTROL EVENTS RATE
import { KubeConfig, Watch } from '@kubernetes/client-node';
import { cpuNow, cpuSince, finish, push, reached } from '../support/measuring.ts';

const [url = '', ca = '', control = '', events = '0', rate = '0'] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromClusterAndUser(
  { name: 'bench', server: url, caData: Buffer.from(ca).toString('base64'), skipTLSVerify: false },
  { name: 'bench', token: 'bench' },
);
let changed = 0;
await new Watch(config).watch(
  '/api/v1/pods',
  { resourceVersion: '900000000' },
  () => {
    changed += 1;
  },
  () => undefined,
);
const { request } = await import('node:http');
const counts = (): Promise<{ watches: number }> =>
  new Promise((resolve, reject) => {
    request(`${control}/counts`, (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .once('end', () => resolve(JSON.parse(text) as { watches: number }));
    })
      .once('error', reject)
      .end();
  });
while ((await counts()).watches === 0) await new Promise((resolve) => setTimeout(resolve, 10));
const start = cpuNow();
await push(control, { count: Number(events), rate: Number(rate) });
await reached(() => changed >= Number(events));
const event = cpuSince(start);
finish({ eventCpuMs: event.process, eventMainMs: event.main });
