// Measures how long the small query of one client takes while other clients send the most expensive allowed documents.
//   costly-operations.ts KUBECONFIG SECONDS [DOCUMENT]
import { readFileSync } from 'node:fs';
import type { Figures } from '../bench-case.ts';
import { costlyDocuments } from '../costly-documents.ts';
import { forkProgram } from '../forked.ts';
import type { CostlyCommand } from '../support/costly-clients.ts';
import { finish, watchTurns } from '../support/measuring.ts';
import { startWholeGateway } from '../support/whole-gateway.ts';

const [kubeconfig = '', seconds = '10', only] = process.argv.slice(2);

const port = await startWholeGateway(readFileSync(kubeconfig, 'utf8'));
const clients = new URL('../support/costly-clients.ts', import.meta.url);
using small = forkProgram<CostlyCommand, Figures>(clients);
using others = forkProgram<CostlyCommand, Figures>(clients);
// The first queries wait for the first lists.
await small.ask({ port, seconds: 1, costly: [] });
const quiet = await small.ask({ port, seconds: 3, costly: [] });
const costly = costlyDocuments.map(({ name }) => name).filter((name) => only === undefined || name === only);
const [busy, { answered = Number.NaN }] = await Promise.all([
  small.ask({ port, seconds: Number(seconds), costly: [] }),
  others.ask({ port, seconds: Number(seconds), costly }),
]);
// Runs last, because `watchTurns` spins and would take CPU from the garbage collector's threads.
const turns = watchTurns();
await others.ask({ port, seconds: Number(seconds) / 4, costly });
const { longestTurnMs } = turns.stop();
finish({
  quietP99Ms: quiet.p99Ms ?? Number.NaN,
  p50Ms: busy.p50Ms ?? Number.NaN,
  p99Ms: busy.p99Ms ?? Number.NaN,
  maxMs: busy.maxMs ?? Number.NaN,
  small: busy.small ?? Number.NaN,
  answered,
  longestTurnMs,
});
