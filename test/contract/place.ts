import type { ApiBody, RawClient, RawRequest } from '../support/clients/raw-client.ts';
import type { ContractServer } from './contract-server.ts';

/** The environment of one case: its own namespace on the tested server. */
export interface Place {
  readonly server: ContractServer;
  readonly client: RawClient;
  readonly namespace: string;
  /** Returns the path of a kind in the namespace: `at('configmaps')`, `at('deployments', 'apps/v1')`. */
  at(resource: string, groupVersion?: string): string;
  /**
   * Creates an object in the namespace.
   *
   * @throws {Error} unless it was created.
   */
  create(path: string, object: object): Promise<ApiBody>;
  /** Creates this many ConfigMaps, named `c0`, `c1`, …, with the labels `app: even | odd` and `n`. */
  createConfigMaps(count: number): Promise<void>;
  /**
   * Returns the body of a 200.
   *
   * @throws {Error} for any other status.
   */
  read(path: string): Promise<ApiBody>;
  /** Replaces the object at its own path. */
  replace(path: string, object: object): Promise<ApiBody>;
}

/** Declares one case. It gets its own namespace. */
export type DeclareCase = (name: string, run: (place: Place) => Promise<void>) => void;

let places = 0;

/** Creates a new namespace on the server. */
export async function openPlace(server: ContractServer): Promise<Place> {
  const namespace = `case-${++places}`;
  const { client } = server;
  const at = (resource: string, groupVersion = 'v1') =>
    `${groupVersion.includes('/') ? '/apis' : '/api'}/${groupVersion}/namespaces/${namespace}/${resource}`;
  const demand = async (wanted: number, method: string, path: string, request: RawRequest = {}): Promise<ApiBody> => {
    const answer = await client.send(method, path, request);
    if (answer.status !== wanted) throw new Error(`expected ${wanted} from ${method} ${path}, got ${answer.status}: ${answer.text}`);
    return answer.json();
  };
  await demand(201, 'POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  return {
    server,
    client,
    namespace,
    at,
    create: (path, object) => demand(201, 'POST', path, { body: object }),
    async createConfigMaps(count) {
      for (let n = 0; n < count; n++) {
        const labels = { app: n % 2 === 0 ? 'even' : 'odd', n: String(n) };
        await demand(201, 'POST', at('configmaps'), { body: { metadata: { name: `c${n}`, labels }, data: { key: 'value' } } });
      }
    },
    read: (path) => demand(200, 'GET', path),
    replace: (path, object) => demand(200, 'PUT', path, { body: object }),
  };
}

/** Returns the names of a list's items, in order. */
export const namesOf = (list: ApiBody): string[] => list.items.map(({ metadata }) => metadata.name);

/** Returns the keys of a JSON object in the order of its text. */
export const keysOf = (object: object | undefined): string[] => Object.keys(object ?? {});

/** Returns the fields of a Status that clients may rely on. The message is not one of them. */
export function statusOf(status: ApiBody): object {
  const causes = status.details?.causes;
  const reasons = Array.isArray(causes) ? causes.map(({ reason, field }) => ({ reason, field })) : [];
  return { kind: status.kind, code: status.code, reason: status.reason, causes: reasons };
}

/** Repeats a check until it holds, because a real server does not report when it is done. */
export async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 10_000;
  while (!(await isSo())) if (performance.now() > untilMs) throw new Error('expected it to become true within 10 s');
}
