// npm run rolling [-- --streams 200] [--queries 50] [--delay 10] [--real]
// Restarts two gateways in turn, as a Deployment does, under streams and queries. Exit code 1 if a query failed, if a stream had to begin again, or if
// a stream does not hold the objects of the clusters at the end.
import { parseArgs } from 'node:util';
import { forkProgram } from '../bench/forked.ts';
import type { FleetAnswer, FleetQuestion } from './programs/fleet.ts';
import type { ReadersAnswer, ReadersQuestion } from './programs/readers.ts';
import { QueryLoad } from './rolling/query-load.ts';
import { startReplicas } from './rolling/replicas.ts';
import { startService } from './rolling/service.ts';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '200' },
    queries: { type: 'string', default: '50' },
    delay: { type: 'string', default: '10' },
    real: { type: 'boolean', default: false },
  },
});
const streamCount = Number(values.streams);
const namespaces = Array.from({ length: 40 }, (_, index) => `team-${index}`);
const changesPerSecond = 50;
const convergeMs = 60_000;

using fleet = forkProgram<FleetQuestion, FleetAnswer>(new URL('./programs/fleet.ts', import.meta.url));
using readers = forkProgram<ReadersQuestion, ReadersAnswer>(new URL('./programs/readers.ts', import.meta.url));

const { kubeconfig = '', clusters = [] } = await fleet.ask({ type: 'start', namespaces, real: values.real });
await using replicas = await startReplicas({ kubeconfig, count: 2, shutdownDelaySeconds: Number(values.delay) });
using service = await startService(replicas.all);
await fleet.ask({ type: 'churn', perSecond: changesPerSecond });
await readers.ask({ type: 'start', port: service.port, readers: streamCount, namespaces, steady: true });
const load = new QueryLoad({ port: service.port, perSecond: Number(values.queries), namespaces });
console.log(`${streamCount} streams and ${values.queries} queries a second of http://127.0.0.1:${service.port}/graphql`);

for (const replica of replicas.all) {
  const startedMs = performance.now();
  const code = await replica.restart();
  console.log(`${replica.name} ended with ${code} and is ready again after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  if (code !== 0) process.exitCode = 1;
}
await fleet.ask({ type: 'churn', perSecond: 0 });
const { truth = [] } = await fleet.ask({ type: 'truth' });
const { amiss = [] } = await readers.ask({ type: 'compare', truth, clusters, withinMs: convergeMs });
const { figures } = await readers.ask({ type: 'figures' });
if (figures === undefined) throw new Error('expected figures');
const { answered, failed } = await load.end();
const { begun, resumed, closed, wrong } = figures;
const problems = [
  ...failed.map((failure) => `a query failed: ${failure}`),
  ...(begun > streamCount ? [`${begun - streamCount} streams began again without a cursor`] : []),
  ...amiss,
  ...wrong,
];
console.log(`${answered} queries answered, ${failed.length} failed; slowest ${load.slowestMs.toFixed(0)} ms`);
console.log(`${streamCount} streams resumed ${resumed} times after ${JSON.stringify(closed)}; ${amiss.length} differ from the clusters`);
for (const problem of problems.slice(0, 20)) console.log(`WRONG ${problem}`);
if (problems.length > 0 || answered === 0 || resumed < streamCount / 2) process.exitCode = 1;
await readers.ask({ type: 'end' });
