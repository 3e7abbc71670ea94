import { Buffer } from 'node:buffer';
import type { V1ContainerStateWaiting, V1Pod } from '@kubernetes/client-node';
import { isJsonObject } from '../../core/json.ts';
import type { TypedObject } from '../../core/objects.ts';
import { itemsOf, type Stored } from '../../core/stored.ts';
import { type ApiRefusal, apiRefusal, isApiRefusal, notFound } from '../kinds/api-status.ts';
import { parseSimObject, storageKey } from '../kinds/sim-object.ts';
import { acceptedShape } from '../requests/media-type.ts';
import { answerRefusal } from '../requests/send-answer.ts';
import type { ResourceContext } from '../requests/sim-server.ts';
import { type LogQuery, parseLogQuery } from './log-query.ts';
import { containerStatusOf, RunLog } from './run-log.ts';

const podKind = { resource: 'pods', group: '' };

/** Answers `pods/log`, as an API server and the kubelet behind it do. */
export async function answerLog(context: ResourceContext): Promise<void> {
  const { target, query, request, server, outlet } = context;
  const { storage, resource } = target;
  const name = resource.name ?? '';
  const shape = acceptedShape(request.headers.accept, storage.kind, 'object');
  if (typeof shape !== 'string') return answerRefusal(context, shape);
  const options = parseLogQuery(query, { pod: name, nowMs: server.state.clock.now() });
  if (isApiRefusal(options)) return answerRefusal(context, options);
  const stored = storage.get(storageKey(resource.namespace ?? '', name));
  if (stored === undefined) return answerRefusal(context, notFound(storage.kind, name));
  const pod: TypedObject<V1Pod> = parseSimObject(storage.kind, stored);
  const container = containerOf(pod, options.container);
  if (typeof container !== 'string') return answerRefusal(context, container);
  const node = pod.spec?.nodeName ?? '';
  if (node === '') {
    outlet.head(204, { 'cache-control': 'no-cache, private' });
    return outlet.end();
  }
  // A real server also reports the missing node as a missing Pod.
  if (server.state.storageOf('Node').get(node) === undefined) return answerRefusal(context, notFound(podKind, node));
  const run = runOf(pod, container, options);
  if (isApiRefusal(run)) return answerRefusal(context, run);
  outlet.head(200, { 'cache-control': 'no-cache, private', 'content-type': 'text/plain' });
  await send(context, { pod, container, run: run.run, options });
}

interface SentLog {
  readonly pod: TypedObject<V1Pod>;
  readonly container: string;
  readonly run: number;
  readonly options: LogQuery;
}

async function send({ server, target, outlet }: ResourceContext, { pod, container, run, options }: SentLog): Promise<void> {
  const uid = pod.metadata.uid ?? '';
  const read = () => {
    const stored = target.storage.get(storageKey(pod.metadata.namespace ?? '', pod.metadata.name));
    const now = stored === undefined ? undefined : parseSimObject(target.storage.kind, stored);
    return now?.metadata.uid === uid ? now : undefined;
  };
  using log = new RunLog({ server, key: { uid, container, run }, pod: read });
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  for (let lines = log.firstLines(options); ; lines = log.newLines()) {
    for (const line of lines) {
      const bytes = options.timestamps
        ? Buffer.concat([Buffer.from(`${line.time} `), line.bytes, newline])
        : Buffer.concat([line.bytes, newline]);
      if (left > 0) outlet.write(bytes.subarray(0, left));
      left -= bytes.length;
      await outlet.room();
      if (left <= 0 || outlet.signal.aborted) break;
    }
    if (!options.follow || left <= 0 || outlet.signal.aborted || log.isOver) break;
    await log.changed(outlet.signal);
  }
  outlet.end();
}

const newline = Buffer.from('\n');

/** Returns the requested container, or the only one if the request names none. */
function containerOf(pod: TypedObject<V1Pod>, requested: string): string | ApiRefusal {
  const { initContainers, containers, ephemeralContainers } = pod.spec ?? {};
  const all = [...itemsOf(initContainers), ...itemsOf(containers), ...itemsOf(ephemeralContainers)].map((one) => one.name ?? '');
  const { name } = pod.metadata;
  if (requested !== '') return all.includes(requested) ? requested : apiRefusal(400, `container ${requested} is not valid for pod ${name}`);
  const [only, ...others] = itemsOf(containers);
  if (only !== undefined && others.length === 0) return only.name ?? '';
  const choice = only === undefined ? '' : `, choose one of: [${all.join(' ')}]`;
  return apiRefusal(400, `a container name must be specified for pod ${name}${choice}`);
}

/** Returns the run whose log the kubelet reads, counted from 0, or why there is none. */
function runOf(pod: TypedObject<V1Pod>, container: string, { previous }: LogQuery): { readonly run: number } | ApiRefusal {
  const which = `container "${container}" in pod "${pod.metadata.name}"`;
  const status = containerStatusOf(pod, container);
  if (status === undefined) return apiRefusal(400, `${which} is not available`);
  const restarts = status?.restartCount ?? 0;
  const hasEnded = isJsonObject(status?.lastState?.terminated);
  const waiting = status.state?.waiting;
  if (previous) {
    if (!hasEnded) return apiRefusal(400, `previous terminated ${which} not found`);
    return { run: waiting === undefined ? restarts - 1 : restarts };
  }
  if (waiting === undefined || hasEnded) return { run: restarts };
  return apiRefusal(400, `${which} is waiting to start: ${waitingFor(waiting)}`);
}

function waitingFor({ reason = '' }: Stored<V1ContainerStateWaiting>): string {
  if (reason === 'ErrImagePull') return "image can't be pulled";
  return reason === 'ImagePullBackOff' ? 'trying and failing to pull image' : reason;
}
