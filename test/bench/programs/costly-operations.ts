// How long the small query of one client takes while others send the most expensive legal documents.
//   costly-operations.ts KUBECONFIG SECONDS [DOCUMENT]
import { readFileSync } from 'node:fs';
import type { Figures } from '../bench-case.ts';
import { costlyDocuments } from '../costly-documents.ts';
import { forkProgram } from '../forked.ts';
import { pin } from '../pin.ts';
import type { CostlyCommand } from './costly-clients.ts';
import { finish, watchTurns } from './measuring.ts';
import { startWholeGateway } from './whole-gateway.ts';

const [kubeconfig = '', seconds = '10', only] = process.argv.slice(2);

pin(0);
const port = await startWholeGateway(readFileSync(kubeconfig, 'utf8'));
using clients = forkProgram<CostlyCommand, Figures>(new URL('./costly-clients.ts', import.meta.url));
pin(1, clients.pid);
const quiet = await clients.ask({ port, seconds: 3, costly: [] });
const turns = watchTurns();
const costly = costlyDocuments.map(({ name }) => name).filter((name) => only === undefined || name === only);
const busy = await clients.ask({ port, seconds: Number(seconds), costly });
const { longestTurnMs } = turns.stop();
finish({
  quietP99Ms: quiet.p99Ms ?? Number.NaN,
  p50Ms: busy.p50Ms ?? Number.NaN,
  p99Ms: busy.p99Ms ?? Number.NaN,
  maxMs: busy.maxMs ?? Number.NaN,
  small: busy.small ?? Number.NaN,
  answered: busy.answered ?? Number.NaN,
  longestTurnMs,
});
