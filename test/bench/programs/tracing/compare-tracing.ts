// Measures the CPU of gateways per page of 50 pods: without traces (twice: the difference is the noise), with a collector that gets no trace, and
// with a trace of every request. Each gateway has a process of its own. Short rounds alternate between them, so that other load of the machine meets
// all alike.
//   compare-tracing.ts KUBECONFIG COLLECTOR ROUNDS
import { setTimeout as sleep } from 'node:timers/promises';
import { fifteenLeaves } from '../../fifteen-leaves.ts';
import { type Forked, forkProgram } from '../../forked.ts';
import { finish } from '../../support/measuring.ts';
import type { TracedGatewayState } from '../../support/traced-gateway.ts';

const [kubeconfig = '', collector = '', rounds = ''] = process.argv.slice(2);

/** Requests of one gateway in one round: an eighth of a batch of spans. */
const perRound = 64;
/** Rounds until the code is compiled. They do not count. */
const warmRounds = 16;
/** Milliseconds after the last round, for the export of the last full batch. */
const exportMs = 300;

type TracedGateway = Forked<object, TracedGatewayState>;

function startGateway(sampler?: string): TracedGateway {
  process.env.OTEL_TRACES_SAMPLER = sampler ?? 'always_on';
  return forkProgram(new URL('../../support/traced-gateway.ts', import.meta.url), {
    args: [kubeconfig, ...(sampler === undefined ? [] : [collector])],
  });
}

const body = JSON.stringify({ query: `{ pods(first: 50) { items { ${fifteenLeaves} } sync { phase } } }` });

/** Sends the requests of one round, over four connections. */
async function runRound(url: string): Promise<void> {
  let left = perRound;
  const send = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      if (!(await answer.text()).includes('SYNCED')) throw new Error(`status ${answer.status}, or the mirror of the pods is not in sync`);
    }
  };
  await Promise.all([send(), send(), send(), send()]);
}

const gateways = { off: startGateway(), offAgain: startGateway(), unsampled: startGateway('always_off'), on: startGateway('always_on') };
const started = await Promise.all(Object.values(gateways).map(async (gateway) => ({ gateway, ...(await gateway.ask({})) })));

/** Each round starts with another gateway, so that none is always measured after the same other one. */
async function runRounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    for (let n = 0; n < started.length; n += 1) await runRound(started[(round + n) % started.length]?.url ?? '');
  }
  await sleep(exportMs);
}

await runRounds(warmRounds);
const before = await Promise.all(started.map(({ gateway }) => gateway.ask({})));
await runRounds(Number(rounds));
const after = await Promise.all(started.map(({ gateway }) => gateway.ask({})));
const msEach = after.map(({ cpuMs }, index) => (cpuMs - (before[index]?.cpuMs ?? 0)) / (Number(rounds) * perRound));
for (const { gateway } of started) gateway[Symbol.dispose]();
finish(Object.fromEntries(Object.keys(gateways).map((name, index) => [`${name}Ms`, msEach[index] ?? Number.NaN])));
