// A very cheap API server: every answer is prepared before the first request. It has pods. All other kinds are empty.
//   canned-server.ts --pods 20000 [--no-watch-list] [--uid TEXT]
// Prints {"url","ca","control"}; `control` is plain HTTP: POST /push?count=N&rate=R sends MODIFIED events to every open watch of pods (with
// &stamped each has the time at which it was sent, in microseconds of the machine's monotonic clock, at `bench` of its labels),
// POST /expire ends them with a 410, GET /counts returns {requests, sockets, watches, lists}.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createCertificate } from '../../../../src/sim/certificate.ts';
import { podOf } from '../../pods.ts';

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '20000' },
    'no-watch-list': { type: 'boolean', default: false },
    uid: { type: 'string', default: 'bench' },
  },
});
const count = Number(values.pods);
const listVersion = '900000000';
const items = Array.from({ length: count }, (_, index) => Buffer.from(JSON.stringify(podOf(index))));
const initial = items.map((item) => eventOf('ADDED', item));
const watches = new Set<Response>();
const others = new Set<Response>();
let requests = 0;
let lists = 0;
const sockets = new Set<unknown>();
let revision = 0;
/** Version of the last event. At first, that of the list. */
let version = Number(listVersion);

const { key, certificate, ca } = await createCertificate();
const server = createSecureServer(
  { key, cert: certificate, allowHTTP1: true, settings: { maxConcurrentStreams: 100 } },
  (request, response) => void answer(request, response),
);
server.on('secureConnection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))));
const control = createServer((request, response) => void answerControl(request, response));
await Promise.all([listening(server), listening(control)]);
console.log(JSON.stringify({ url: `https://127.0.0.1:${portOf(server)}`, ca, control: `http://127.0.0.1:${portOf(control)}` }));
process.on('SIGTERM', () => process.exit(0));

async function answer(request: Request, response: Response): Promise<void> {
  requests += 1;
  const url = new URL(request.url ?? '/', 'https://localhost');
  const { pathname, searchParams: query } = url;
  if (pathname === '/version') return json(response, { major: '1', minor: '36', gitVersion: 'v1.36.3' });
  if (pathname === '/api' || pathname === '/apis') return discovery(pathname, response);
  if (query.has('watch') && query.has('sendInitialEvents') && values['no-watch-list']) return forbidden(response);
  if (query.has('watch')) return openWatch(pathname, query, response);
  if (pathname === '/api/v1/pods') return listPods(query, response);
  if (pathname === '/api/v1/namespaces/kube-system')
    return json(response, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'kube-system', uid: values.uid, resourceVersion: '1' },
    });
  json(response, { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: listVersion }, items: [] });
}

function forbidden(response: Response): void {
  (response as ServerResponse).statusCode = 422;
  json(response, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'sendInitialEvents is forbidden',
    reason: 'Invalid',
    code: 422,
  });
}

function listPods(query: URLSearchParams, response: Response): void {
  const from = Number(query.get('continue') ?? '0');
  const to = query.has('limit') ? Math.min(count, from + Number(query.get('limit'))) : count;
  const more = to < count ? `,"continue":"${to}","remainingItemCount":${count - to}` : '';
  const chunks: Buffer[] = [
    Buffer.from(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${listVersion}"${more}},"items":[`),
  ];
  for (let index = from; index < to; index += 1) {
    if (index > from) chunks.push(Buffer.from(','));
    chunks.push(items[index] ?? Buffer.alloc(0));
  }
  chunks.push(Buffer.from(']}'));
  response.setHeader('content-type', 'application/json');
  void writeAll(response, chunks).then(() => {
    if (!more) lists += 1;
    (response as ServerResponse).end();
  });
}

async function openWatch(pathname: string, query: URLSearchParams, response: Response): Promise<void> {
  response.setHeader('content-type', 'application/json');
  (response as ServerResponse).writeHead(200);
  (response as ServerResponse).flushHeaders?.();
  const ofPods = pathname === '/api/v1/pods';
  if (!ofPods) others.add(response.on('close', () => others.delete(response)));
  if (query.get('sendInitialEvents') === 'true') {
    if (ofPods) await writeAll(response, initial);
    const bookmark = {
      type: 'BOOKMARK',
      object: { ...identityOf(pathname), metadata: { resourceVersion: listVersion, annotations: { 'k8s.io/initial-events-end': 'true' } } },
    };
    write(response, Buffer.from(`${JSON.stringify(bookmark)}\n`));
  }
  if (!ofPods) return;
  watches.add(response);
  response.on('close', () => watches.delete(response));
}

/** Answers control requests. `rate` is in events per second; 0 sends as fast as the reader takes them. */
async function answerControl(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/counts') return json(response, { requests, sockets: sockets.size, watches: watches.size, others: others.size, lists });
  if (pathname === '/expire') return expire(response);
  const events = Number(query.get('count'));
  const rate = Number(query.get('rate') ?? '0');
  const prepared = Array.from({ length: events }, (_, n) => {
    if (n % count === 0) revision += 1;
    version += 1;
    const pod = podOf((n * 7919) % count, { revision, version: String(version) });
    return eventOf('MODIFIED', Buffer.from(JSON.stringify(query.has('stamped') ? stampable(pod) : pod)));
  });
  const started = performance.now();
  const step = rate === 0 ? 256 : Math.max(1, Math.round(rate / 200));
  for (let from = 0; from < events; from += step) {
    if (query.has('stamped')) for (const event of prepared.slice(from, from + step)) stamp(event);
    for (const watch of watches) await writeAll(watch, prepared.slice(from, from + step));
    if (rate > 0) await sleep(Math.max(0, started + (from / rate) * 1000 - performance.now()));
  }
  json(response, { version: String(version) });
}

const noStamp = '0'.repeat(16);

function stampable(pod: object): object {
  const { metadata, ...rest } = pod as { readonly metadata: { readonly labels: object } };
  return { metadata: { ...metadata, labels: { ...metadata.labels, bench: noStamp } }, ...rest };
}

function stamp(event: Buffer): void {
  event.write(String(process.hrtime.bigint() / 1000n).padStart(noStamp.length, '0'), event.indexOf(noStamp), 'latin1');
}

function expire(answer: ServerResponse): void {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'too old resource version',
    reason: 'Expired',
    code: 410,
  };
  for (const watch of watches) (watch as ServerResponse).end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
  json(answer, {});
}

function discovery(pathname: string, response: Response): void {
  const resource = (plural: string, kind: string, namespaced: boolean) => ({
    resource: plural,
    responseKind: { group: '', version: '', kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.toLowerCase(),
    verbs: ['get', 'list', 'watch'],
  });
  const core = [
    resource('pods', 'Pod', true),
    resource('namespaces', 'Namespace', false),
    resource('nodes', 'Node', false),
    resource('configmaps', 'ConfigMap', true),
  ];
  const extensions = [resource('customresourcedefinitions', 'CustomResourceDefinition', false)];
  const group =
    pathname === '/api'
      ? { metadata: {}, versions: [{ version: 'v1', freshness: 'Current', resources: core }] }
      : { metadata: { name: 'apiextensions.k8s.io' }, versions: [{ version: 'v1', freshness: 'Current', resources: extensions }] };
  json(
    response,
    { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items: [group] },
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  );
}

function identityOf(pathname: string): { kind: string; apiVersion: string } {
  const kinds: Readonly<Record<string, string>> = {
    pods: 'Pod',
    namespaces: 'Namespace',
    nodes: 'Node',
    configmaps: 'ConfigMap',
    customresourcedefinitions: 'CustomResourceDefinition',
  };
  const plural = pathname.split('/').at(-1) ?? '';
  return { kind: kinds[plural] ?? plural, apiVersion: pathname.startsWith('/apis/apiextensions') ? 'apiextensions.k8s.io/v1' : 'v1' };
}

function eventOf(type: string, item: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":{"kind":"Pod","apiVersion":"v1",`), item.subarray(1), Buffer.from('}\n')]);
}

/** Writes the chunks in blocks of about 64 KiB. Waits while the reader is slower. */
async function writeAll(response: Response, chunks: readonly Buffer[]): Promise<void> {
  let batch: Buffer[] = [];
  let size = 0;
  for (const chunk of [...chunks, undefined]) {
    if (chunk !== undefined) {
      batch.push(chunk);
      size += chunk.length;
    }
    if (size < 65_536 && chunk !== undefined) continue;
    if (!write(response, Buffer.concat(batch))) await drained(response);
    batch = [];
    size = 0;
  }
}

function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      response.removeListener('drain', end).removeListener('close', end);
      resolve();
    };
    response.on('drain', end).on('close', end);
  });
}

function write(response: Response, bytes: Buffer): boolean {
  return (response as ServerResponse).write(bytes);
}

function json(response: Response, body: unknown, type = 'application/json'): void {
  response.setHeader('content-type', type);
  (response as ServerResponse).end(JSON.stringify(body));
}

function listening(one: { listen(port: number, host: string, done: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => one.listen(0, '127.0.0.1', () => resolve()));
}

function portOf(one: { address(): AddressInfo | string | null }): number {
  const address = one.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
