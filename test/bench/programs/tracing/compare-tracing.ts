// Measures the server's CPU per page of 50 pods, with traces if a collector is named. The client runs in another process.
//   traced-requests.ts KUBECONFIG ROUNDS [COLLECTOR]
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadConfig } from '../../../../src/config/load-config.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import { silentLog } from '../../../../src/core/log.ts';
import { createGateway } from '../../../../src/gateway.ts';
import { fifteenLeaves } from '../../fifteen-leaves.ts';
import { cpuNow, cpuSince, finish } from '../../support/measuring.ts';

const [kubeconfig = '', rounds = '', collector] = process.argv.slice(2);
const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const config = await loadConfig({
  flags: { kubeconfig, port: '0', ...(collector === undefined ? {} : { otlp: collector }) },
  environment: { XDG_STATE_HOME: directory },
  directory,
});
const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
await gateway.whenReady(new AbortController().signal);
const post = promisify(execFile);
const client = fileURLToPath(new URL('../../support/post-many.ts', import.meta.url));
const query = `{ pods(first: 50) { items { ${fifteenLeaves} } sync { phase } } }`;
const warmed = await fetch(gateway.url, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query }),
});
if (!(await warmed.text()).includes('SYNCED')) throw new Error('the mirror of the pods is not in sync');
await post(process.execPath, [client, gateway.url, rounds, '4', query]);
const start = cpuNow();
await post(process.execPath, [client, gateway.url, rounds, '4', query]);
finish({ msEach: cpuSince(start).process / Number(rounds) });
