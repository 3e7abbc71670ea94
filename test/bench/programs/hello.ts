// Measures the server's CPU per hello-world POST. The client runs in another process.
//   hello.ts ours|yoga|bare
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createSchema, createYoga } from 'graphql-yoga';
import { loadConfig } from '../../../src/config/load-config.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createGateway } from '../../../src/gateway.ts';
import { writeKubeconfig } from '../support/bench-kubeconfig.ts';
import { startFixedServer } from '../support/fixed-server.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const requests = 20_000;
const servers: Readonly<Record<string, () => Promise<string>>> = {
  ours,
  yoga,
  bare: () => startFixedServer(Buffer.from('{"data":{"__typename":"Query"}}')),
};
const start = servers[process.argv[2] ?? ''];
if (start === undefined) throw new Error(`expected ${Object.keys(servers).join(', ')}, got ${process.argv[2]}`);
const url = await start();
const ask = promisify(execFile);
const client = fileURLToPath(new URL('../support/post-many.ts', import.meta.url));
await ask(process.execPath, [client, url, '10000']);
const before = cpuNow();
await ask(process.execPath, [client, url, String(requests)]);
finish({ cpuUsEach: (cpuSince(before).process * 1000) / requests });

/** Starts the gateway over one cluster that does not exist, so that only the HTTP and GraphQL layers work. */
async function ours(): Promise<string> {
  const kubeconfig = writeKubeconfig([{ name: 'nowhere', url: 'https://127.0.0.1:9', ca: '' }]);
  const directory = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
  const config = await loadConfig({ flags: { kubeconfig, port: '0' }, environment: { XDG_STATE_HOME: directory }, directory });
  const gateway = await createGateway({ config, clock: systemClock, log: silentLog });
  return gateway.url;
}

/** Starts Yoga with the smallest schema and without plugins. */
async function yoga(): Promise<string> {
  const schema = createSchema({ typeDefs: 'type Query { hello: String }' });
  const server = createServer(createYoga({ schema, logging: false, graphiql: false, landingPage: false }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}
