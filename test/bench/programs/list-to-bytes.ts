// Measures a list of 500 pods with 15 leaf fields each, from the mirror to bytes over HTTP, and JSON.stringify of the same answer. The client
// runs in another process.
//   list-to-bytes.ts KUBECONFIG
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
import { fifteenLeaves } from '../fifteen-leaves.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const rounds = 200;
const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const config = await loadConfig({
  flags: { kubeconfig: process.argv[2] ?? '', port: '0' },
  environment: { XDG_STATE_HOME: directory },
  directory,
});
const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
await gateway.whenReady(new AbortController().signal);
const post = promisify(execFile);
const client = fileURLToPath(new URL('../support/post-many.ts', import.meta.url));

// The texts of a selection with the age of its mirror cannot be kept, so each answer is projected and printed.
const fresh = await listMs(`${fifteenLeaves} sync { phase }`);
const again = await listMs(fifteenLeaves);
finish({ freshMs: fresh.ours, freshStringifyMs: fresh.floor, againMs: again.ours, againStringifyMs: again.floor });

/** Returns the milliseconds of CPU of one list, and of `JSON.stringify` of its answer. */
async function listMs(selection: string): Promise<{ readonly ours: number; readonly floor: number }> {
  const query = `{ pods(first: 500) { items { ${selection} } } }`;
  const headers = { 'content-type': 'application/json' };
  const text = await (await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify({ query }) })).text();
  const answer = JSON.parse(text) as { data: { pods: { items: unknown[] } } };
  if (answer.data.pods.items.length !== 500) throw new Error(text.slice(0, 500));
  await post(process.execPath, [client, gateway.url, String(rounds), '1', query]);
  const start = cpuNow();
  await post(process.execPath, [client, gateway.url, String(rounds), '1', query]);
  const ours = cpuSince(start).main / rounds;
  for (let n = 0; n < rounds; n += 1) JSON.stringify(answer);
  const plain = cpuNow();
  for (let n = 0; n < rounds; n += 1) JSON.stringify(answer);
  return { ours, floor: cpuSince(plain).main / rounds };
}
