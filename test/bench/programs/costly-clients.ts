// Clients of a gateway: one for each costly document, which sends it again and again, and one with a small query. Answers its parent.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../bench-case.ts';
import { type CostlyDocument, costlyDocuments } from '../costly-documents.ts';
import { answerParent } from '../forked.ts';

/** Which clients run, and for how long. */
export interface CostlyCommand {
  readonly port: number;
  readonly seconds: number;
  /** The names of their documents. */
  readonly costly: readonly string[];
}

const everyMs = 10;
const small = JSON.stringify({ query: '{ pods(namespaces: ["team-1"], first: 5) { items { metadata { name } status { phase } } } }' });

answerParent<CostlyCommand, Figures>(async ({ port, seconds, costly }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  // The first ones wait for the first lists, and make what later ones find.
  for (let n = 0; n < 20; n += 1) await post({ port, agent, body: small, accept: 'application/json' });
  const untilMs = performance.now() + seconds * 1_000;
  const end = new AbortController();
  const counts = costlyDocuments
    .filter(({ name }) => costly.includes(name))
    .map((document) => repeat(document, { port, untilMs, signal: end.signal }));
  const tookMs: number[] = [];
  while (performance.now() < untilMs) {
    const startMs = performance.now();
    const text = await post({ port, agent, body: small, accept: 'application/json' });
    tookMs.push(performance.now() - startMs);
    if (!text.includes('"phase"')) throw new Error(text.slice(0, 500));
    await sleep(everyMs);
  }
  end.abort();
  const answered = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  tookMs.sort((a, b) => a - b);
  const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), small: tookMs.length, answered };
});

interface Repeating {
  readonly port: number;
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** How many answers came. */
async function repeat({ type, query, variables }: CostlyDocument, { port, untilMs, signal }: Repeating): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const body = JSON.stringify({ query, variables });
  const accept = type === 'subscription' ? 'text/event-stream' : 'application/json';
  let answered = 0;
  while (performance.now() < untilMs) {
    await post({ port, agent, body, accept, signal }).then(
      (text) => {
        // A document that is refused before it costs anything measures nothing.
        if (text.includes('BAD_INPUT') || text.includes('GRAPHQL_')) throw new Error(text.slice(0, 500));
        answered += 1;
      },
      (error: unknown) => {
        if (!signal.aborted) throw error;
      },
    );
  }
  return answered;
}

interface Posted {
  readonly port: number;
  readonly agent: Agent;
  readonly body: string;
  readonly accept: string;
  readonly signal?: AbortSignal;
}

function post({ port, agent, body, accept, signal }: Posted): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', accept };
    const call = request(
      { port, path: '/graphql', method: 'POST', agent, headers, ...(signal === undefined ? {} : { signal }) },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('error', reject).once('end', () => resolve(text));
      },
    );
    call.once('error', reject);
    call.end(body);
  });
}
