// Clients of a gateway. A process either repeats costly documents or times a small query. Reading large answers would delay the timing.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../bench-case.ts';
import { type CostlyDocument, costlyDocuments } from '../costly-documents.ts';
import { answerParent } from '../forked.ts';

/** The work of the process and its duration. */
export interface CostlyCommand {
  readonly port: number;
  readonly seconds: number;
  /** The names of the documents that it repeats, with a client for each. If there is none, it times a small query instead. */
  readonly costly: readonly string[];
}

const everyMs = 10;
/** Number of characters of an answer that are kept, to recognize an error. */
const keptLength = 1_000;
const small = JSON.stringify({ query: '{ pods(namespaces: ["team-1"], first: 5) { items { metadata { name } status { phase } } } }' });

answerParent<CostlyCommand, Figures>(({ port, seconds, costly }) => {
  const untilMs = performance.now() + seconds * 1_000;
  return costly.length === 0 ? timeSmallQuery(port, untilMs) : sendCostly(port, untilMs, costly);
});

async function timeSmallQuery(port: number, untilMs: number): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const tookMs: number[] = [];
  while (performance.now() < untilMs) {
    const startMs = performance.now();
    const text = await post({ port, agent, body: small, accept: 'application/json' });
    tookMs.push(performance.now() - startMs);
    if (!text.includes('"phase"')) throw new Error(text.slice(0, 500));
    await sleep(everyMs);
  }
  tookMs.sort((a, b) => a - b);
  const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), small: tookMs.length };
}

async function sendCostly(port: number, untilMs: number, costly: readonly string[]): Promise<Figures> {
  const end = new AbortController();
  const counts = costlyDocuments
    .filter(({ name }) => costly.includes(name))
    .map((document) => repeat(document, { port, untilMs, signal: end.signal }));
  await sleep(untilMs - performance.now());
  end.abort();
  return { answered: (await Promise.all(counts)).reduce((sum, count) => sum + count, 0) };
}

interface Repeating {
  readonly port: number;
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** Repeats one document until the time is over. Returns the number of answers. */
async function repeat({ type, query, variables }: CostlyDocument, { port, untilMs, signal }: Repeating): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const body = JSON.stringify({ query, variables });
  const accept = type === 'subscription' ? 'text/event-stream' : 'application/json';
  let answered = 0;
  while (performance.now() < untilMs) {
    await post({ port, agent, body, accept, signal }).then(
      (text) => {
        // A document that is refused early costs nothing, so it would measure nothing.
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

/** Posts a body. Resolves with the beginning of the answer. */
function post({ port, agent, body, accept, signal }: Posted): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', accept };
    const call = request(
      { port, path: '/graphql', method: 'POST', agent, headers, ...(signal === undefined ? {} : { signal }) },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          if (text.length < keptLength) text += chunk;
        });
        response.once('error', reject).once('end', () => resolve(text));
      },
    );
    call.once('error', reject);
    call.end(body);
  });
}
