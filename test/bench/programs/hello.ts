// Measures the server's CPU per hello-world POST. The client runs in another process.
//   hello.ts ours|bare
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import { writeKubeconfig } from '../support/bench-kubeconfig.ts';
import { startFixedServer } from '../support/fixed-server.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const requests = 20_000;
const url = process.argv[2] === 'ours' ? await ours() : await startFixedServer(Buffer.from('{"data":{"__typename":"Query"}}'));
const ask = promisify(execFile);
const client = fileURLToPath(new URL('../support/post-many.ts', import.meta.url));
await ask(process.execPath, [client, url, '10000']);
const start = cpuNow();
await ask(process.execPath, [client, url, String(requests)]);
finish({ cpuUsEach: (cpuSince(start).process * 1000) / requests });

/** Starts the gateway over one cluster that does not exist, so that only the HTTP and GraphQL layers work. */
async function ours(): Promise<string> {
  const kubeconfig = writeKubeconfig([{ name: 'nowhere', url: 'https://127.0.0.1:9', ca: '' }]);
  const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
  const config = await loadConfig({ flags: { kubeconfig, port: '0' }, environment: { XDG_STATE_HOME: directory }, directory });
  const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
  return gateway.url;
}
