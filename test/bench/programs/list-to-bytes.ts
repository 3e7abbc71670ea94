// Measures a list of 500 pods with 15 leaf fields each, from the mirror to bytes over HTTP. Beside it: JSON.stringify of the same answer, and
// bare node:http that sends the same bytes. The client runs in another process.
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
import { startFixedServer } from '../support/fixed-server.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const rounds = 1_000;
const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
const config = await loadConfig({
  flags: { kubeconfig: process.argv[2] ?? '', port: '0' },
  environment: { XDG_STATE_HOME: directory },
  directory,
});
const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
await gateway.whenStarted(new AbortController().signal);
const post = promisify(execFile);
const client = fileURLToPath(new URL('../support/post-many.ts', import.meta.url));

// The texts of a list of any kind are not kept, so each answer is projected and printed. With the phase of its mirror, only the other parts of an item
// are kept.
const fresh = await listMs('resources', `resources(kinds: "Pod", first: 500) { items { ... on Pod { ${fifteenLeaves} } } }`);
const edges = await listMs('pods', `pods(first: 500) { edges { node { ${fifteenLeaves} } } }`);
const partly = await listMs('pods', `pods(first: 500) { items { ${fifteenLeaves} sync { phase } } }`);
const again = await listMs('pods', `pods(first: 500) { items { ${fifteenLeaves} } }`);
finish({
  ...{ freshMs: fresh.ours, freshStringifyMs: fresh.floor },
  ...{ edgesMs: edges.ours, edgesStringifyMs: edges.floor },
  ...{ partlyMs: partly.ours, partlyStringifyMs: partly.floor },
  ...{ againMs: again.ours, againStringifyMs: again.floor, againBareMs: again.bare },
});

/** The milliseconds of CPU of one list, of `JSON.stringify` of its answer, and of bare `node:http` that sends the same bytes. */
interface ListFigures {
  readonly ours: number;
  readonly floor: number;
  readonly bare: number;
}

async function listMs(field: 'pods' | 'resources', selection: string): Promise<ListFigures> {
  const query = `{ ${selection} }`;
  const headers = { 'content-type': 'application/json' };
  const text = await (await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify({ query }) })).text();
  const answer = JSON.parse(text) as { data: Readonly<Record<string, { items?: readonly unknown[]; edges?: readonly unknown[] }>> };
  const { items, edges: rows = items } = answer.data[field] ?? {};
  if (rows?.length !== 500) throw new Error(text.slice(0, 500));
  const ours = await servedMs(gateway.url, query);
  const bare = await servedMs(await startFixedServer(Buffer.from(text)), query);
  for (let n = 0; n < rounds; n += 1) JSON.stringify(answer);
  const plain = cpuNow();
  for (let n = 0; n < rounds; n += 1) JSON.stringify(answer);
  return { ours, floor: cpuSince(plain).main / rounds, bare };
}

/** Returns the milliseconds of CPU that this process takes to answer one POST of the query. */
async function servedMs(url: string, query: string): Promise<number> {
  await post(process.execPath, [client, url, String(rounds), '1', query]);
  const start = cpuNow();
  await post(process.execPath, [client, url, String(rounds), '1', query]);
  return cpuSince(start).main / rounds;
}
