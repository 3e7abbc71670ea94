import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

interface QueryLoadOptions {
  readonly port: number;
  readonly perSecond: number;
  readonly namespaces: readonly string[];
}

const query =
  'query ($namespace: String!) { configMaps(namespaces: [$namespace], first: 20) { totalCount items { id } sync { phase } faults { code } } }';

/** Sends queries at a steady rate over kept connections, and never sends one twice. */
export class QueryLoad {
  readonly #options: QueryLoadOptions;
  readonly #agent = new Agent({ connections: 20 });
  readonly #open = new Set<Promise<void>>();
  readonly #failed: string[] = [];
  readonly #sending: Promise<void>;
  #answered = 0;
  #isEnded = false;
  /** Milliseconds of the slowest answer so far. */
  slowestMs = 0;

  constructor(options: QueryLoadOptions) {
    this.#options = options;
    this.#sending = this.#send();
  }

  /** Stops sending and waits for the last answers. */
  async end(): Promise<{ readonly answered: number; readonly failed: readonly string[] }> {
    this.#isEnded = true;
    await this.#sending;
    await Promise.all(this.#open);
    await this.#agent.close();
    return { answered: this.#answered, failed: this.#failed };
  }

  async #send(): Promise<void> {
    const { perSecond, namespaces } = this.#options;
    const startedMs = performance.now();
    for (let sent = 0; !this.#isEnded; sent += 1) {
      await sleep(Math.max(0, startedMs + (sent * 1000) / perSecond - performance.now()));
      const asking = this.#ask(namespaces[sent % namespaces.length] ?? '').finally(() => this.#open.delete(asking));
      this.#open.add(asking);
    }
  }

  async #ask(namespace: string): Promise<void> {
    const startedMs = performance.now();
    try {
      const { statusCode, body } = await request(`http://127.0.0.1:${this.#options.port}/graphql`, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables: { namespace } }),
      });
      const text = await body.text();
      if (statusCode === 200 && isWhole(text)) this.#answered += 1;
      else this.#failed.push(`${statusCode} ${text.slice(0, 300)}`);
    } catch (error) {
      this.#failed.push(String(error));
    }
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startedMs);
  }
}

/** True if the answer has no error, and the objects of every cluster. */
function isWhole(text: string): boolean {
  const { data, errors } = JSON.parse(text) as {
    readonly data?: { readonly configMaps: { readonly sync: readonly { readonly phase: string }[]; readonly faults: readonly object[] } };
    readonly errors?: readonly object[];
  };
  if (errors !== undefined || data === undefined) return false;
  const { sync, faults } = data.configMaps;
  return faults.length === 0 && sync.length > 0 && sync.every(({ phase }) => phase === 'SYNCED');
}
