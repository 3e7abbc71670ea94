import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { ConfiguredHook } from '../../../src/config/config.ts';
import type { HookRequest } from '../../../src/migrate/traffic/hook-request.ts';

/** A hook of the config file, with a server that records its calls. */
export interface HookServer extends AsyncDisposable {
  readonly hook: ConfiguredHook;
  readonly calls: readonly HookRequest[];
  /** The operations of the calls for an application, by the name of its workload. */
  operations(app: string): readonly string[];
}

/**
 * Starts a server on loopback.
 *
 * @param answer The status of the answer to a call. Undefined: the server stays silent. Default: 200.
 */
export async function startHookServer(answer: (request: HookRequest) => number | undefined = () => 200): Promise<HookServer> {
  const calls: HookRequest[] = [];
  const server = http.createServer(async (incoming, response) => {
    const request = (await json(incoming)) as HookRequest;
    calls.push(request);
    const status = answer(request);
    if (status !== undefined) response.writeHead(status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    hook: { name: 'upstreams', url, timeoutMs: 5_000 },
    calls,
    operations: (app) => calls.filter((call) => call.app.name === app).map(({ operation }) => operation),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
