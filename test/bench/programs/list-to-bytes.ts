// Measures a list of 500 pods with 15 leaf fields each, from the mirror to bytes over HTTP, and JSON.stringify of the same answer.
//   list-to-bytes.ts KUBECONFIG
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import { fifteenLeaves } from '../fifteen-leaves.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const rounds = 30;
const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const config = await loadConfig({
  flags: { kubeconfig: process.argv[2] ?? '', port: '0' },
  environment: { XDG_STATE_HOME: directory },
  directory,
});
const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
await gateway.whenReady(new AbortController().signal);

const body = JSON.stringify({ query: `{ pods(first: 500) { items { ${fifteenLeaves} } } }` });
const list = async (): Promise<string> =>
  (await fetch(gateway.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text();
let text = '';
for (let n = 0; n < 5; n += 1) text = await list();
const answer = JSON.parse(text) as { data: { pods: { items: unknown[] } } };
if (answer.data.pods.items.length !== 500) throw new Error(text.slice(0, 500));

const ours = cpuNow();
for (let n = 0; n < rounds; n += 1) await list();
const oursCpu = cpuSince(ours);
const plain = cpuNow();
let bytes = 0;
for (let n = 0; n < rounds; n += 1) bytes += Buffer.byteLength(JSON.stringify(answer));
const plainCpu = cpuSince(plain);
finish({ oursMs: oursCpu.main / rounds, stringifyMs: plainCpu.main / rounds, bytes: bytes / rounds });
