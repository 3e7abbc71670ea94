import type { ApiBody, RawClient, RawRequest } from '../support/clients/raw-client.ts';
import type { ContractServer } from './contract-server.ts';

/** Where one case happens: a namespace of its own on the server that is asked. */
export interface Place {
  readonly server: ContractServer;
  readonly client: RawClient;
  readonly namespace: string;
  /** The path of a kind in the namespace: `at('configmaps')`, `at('deployments', 'apps/v1')`. */
  at(resource: string, groupVersion?: string): string;
  /** Creates an object in the namespace. @throws {Error} unless it was created. */
  create(path: string, object: object): Promise<ApiBody>;
  /** Creates as many ConfigMaps, named `c0`, `c1`, …, with the labels `app: even | odd` and `n`. */
  createConfigMaps(count: number): Promise<void>;
  /** The body of a 200. @throws {Error} for any other status. */
  read(path: string): Promise<ApiBody>;
  /** Puts the object where it came from. */
  replace(path: string, object: object): Promise<ApiBody>;
}

/** Declares one case. It gets a namespace of its own. */
export type DeclareCase = (name: string, run: (place: Place) => Promise<void>) => void;

let places = 0;

/** A new namespace on the server. */
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

/** The names of a list's items, in its order. */
export const namesOf = (list: ApiBody): string[] => list.items.map(({ metadata }) => metadata.name);

/** The keys of a JSON object in the order of its text. */
export const keysOf = (object: object | undefined): string[] => Object.keys(object ?? {});

/** What a Status says that clients may rely on: its prose is not part of it. */
export function statusOf(status: ApiBody): object {
  const causes = status.details?.causes;
  const reasons = Array.isArray(causes) ? causes.map(({ reason, field }) => ({ reason, field })) : [];
  return { kind: status.kind, code: status.code, reason: status.reason, causes: reasons };
}

/** Asks again until it is so: a real server tells by nothing when it has got there. */
export async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 10_000;
  while (!(await isSo())) if (performance.now() > untilMs) throw new Error('expected it to become true within 10 s');
}
