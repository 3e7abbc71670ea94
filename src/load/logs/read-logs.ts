import DataLoader from 'dataloader';
import { apiForCaller } from '../../access/caller-api.ts';
import { MusterError } from '../../core/errors.ts';
import { type Fault, fault, type Gathered } from '../../core/faults.ts';
import { keyOfKind } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { createConcurrencyLimit } from '../../core/scheduling/concurrency-limit.ts';
import type { Model, ModelKind } from '../../model/model.ts';
import { objectWaitMs } from '../reads/list-arguments.ts';
import type { LiveMember } from '../reads/read-object.ts';
import { type ListSourceOptions, type ReadSource, type SourceRequest, withReadSources } from '../reads/read-sources.ts';
import type { ClusterView, ReadContext, Row } from '../reads/reads.ts';
import { fetchLog } from './fetch-log.ts';
import { type CheckedExtent, type CheckedSelection, checkExtent, checkSelection } from './log-arguments.ts';
import type { LogExtent, LogSelection, PodLogView } from './logs.ts';
import { logRightIn, podKind, podsIn, selectedContainers } from './matching-pods.ts';
import { defaultContainerOf, podContainersOf } from './pod-containers.ts';

export interface ReadLogsOptions extends ListSourceOptions {
  readonly model: () => Model;
  readonly member: (name: ClusterName) => LiveMember | undefined;
}

/** A container whose log is read. */
export interface LogTarget {
  readonly cluster: ClusterView;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** Maximum number of containers in one answer, and of containers that one reader follows at the same time. */
export const maxContainers = 20;
const maxPods = 20;
const defaultTailLines = 200;
/** Maximum number of bytes of all logs in one answer. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** Reads the logs of the selected containers: see `Logs.read`. */
export async function readLogs(
  options: ReadLogsOptions,
  context: ReadContext,
  { selection, extent }: { readonly selection: LogSelection; readonly extent: LogExtent },
): Promise<Gathered<PodLogView>> {
  const selected = checkSelection(selection);
  const checked = checkExtent(extent, defaultTailLines);
  const requests = asksOf(options, context, selected);
  const { targets, faults } = await withReadSources(options, { requests, waitMs: objectWaitMs, context }, (sources) => ({
    targets: sources.flatMap((source) => targetsIn(source, selected)),
    faults: sources.flatMap((source) => (source.type === 'notServed' || source.sync.fault === undefined ? [] : [source.sync.fault])),
  }));
  checkCount(targets.length, checked);
  const items = await readTargets(
    options,
    context,
    targets.map((target) => ({ target, extent: checked })),
  );
  context.signal.throwIfAborted();
  return { items, faults: [...new Set(faults)] };
}

/**
 * Creates the function `Logs.readOfPod`, which reads the log of one Pod. It requests each log once per operation, also if several fields
 * select it.
 */
export function createPodLogReader(options: ReadLogsOptions): (context: ReadContext, request: PodLogRequest) => Promise<PodLogView> {
  const loaders = new WeakMap<ReadContext, DataLoader<PodLogKey, PodLogView, string>>();
  return async (context, { row, extent }) => {
    const { container: named, ...rest } = extent;
    const checked = checkExtent(rest, defaultTailLines);
    const loader = loaders.get(context) ?? createLoader(options, context);
    loaders.set(context, loader);
    const { metadata } = row.object;
    const container = named ?? defaultContainerOf(row.object) ?? '';
    const target: LogTarget = { cluster: row.cluster, namespace: metadata.namespace ?? '', pod: metadata.name, container };
    if (!podContainersOf(row.object).includes(container)) return withFault(target, noSuchContainer(target, row.object));
    const log = await loader.load({ target, extent: checked });
    context.signal.throwIfAborted();
    return log;
  };
}

interface PodLogRequest {
  readonly row: Row;
  readonly extent: LogExtent & { readonly container?: string | null | undefined };
}

interface PodLogKey {
  readonly target: LogTarget;
  readonly extent: CheckedExtent;
}

function createLoader(options: ReadLogsOptions, context: ReadContext): DataLoader<PodLogKey, PodLogView, string> {
  const pods = new Set<string>();
  return new DataLoader<PodLogKey, PodLogView, string>(
    (keys) => {
      for (const { target } of keys) pods.add(JSON.stringify([target.cluster.name, target.namespace, target.pod]));
      if (pods.size > maxPods) return Promise.reject(tooManyPods(pods.size));
      return readTargets(options, context, keys);
    },
    { cacheKeyFn: ({ target: { cluster, ...place }, extent }) => JSON.stringify([cluster.name, place, extent]) },
  );
}

function tooManyPods(count: number): MusterError {
  return new MusterError(
    'TOO_COSTLY',
    `expected the logs of at most ${maxPods} Pods in one answer, got ${count}: narrow the request (first, labels, names)`,
  );
}

function asksOf(
  { views, model }: ReadLogsOptions,
  { caller }: ReadContext,
  { clusters, namespaces }: CheckedSelection,
): readonly SourceRequest[] {
  const kind = podsOf(model());
  if (kind === undefined) return [];
  const wanted = clusters === undefined ? views.visible(caller) : views.named(caller, clusters);
  return wanted.map((cluster) => ({ cluster, kind, verb: 'list', isNamed: clusters !== undefined, namespaces }));
}

/** Returns the kind Pod of the model, or undefined if the model lacks it. */
export function podsOf(model: Model): ModelKind | undefined {
  return model.kinds.get(keyOfKind(podKind));
}

function targetsIn(source: ReadSource, selection: CheckedSelection): readonly LogTarget[] {
  if (source.type !== 'held') return [];
  const { request, mirror, visibility } = source;
  return podsIn(mirror.store, selection, visibility).flatMap((pod) => {
    const { namespace = '', name } = pod.metadata;
    return selectedContainers(pod, selection).map((container) => ({ cluster: request.cluster, namespace, pod: name, container }));
  });
}

function checkCount(count: number, { limitBytes }: CheckedExtent): void {
  if (count > maxContainers) {
    throw new MusterError('TOO_COSTLY', `expected at most ${maxContainers} containers, got ${count} that match: choose fewer of them`);
  }
  if (count * limitBytes <= maxAnswerBytes) return;
  const most = Math.floor(maxAnswerBytes / count);
  throw new MusterError('TOO_COSTLY', `expected limitBytes of at most ${most} for ${count} containers, got ${limitBytes}`);
}

/**
 * Reads the logs of these containers, in the order of `keys`, at most 20 at the same time. A log that may not be read has a fault. The
 * right to read logs is requested once in each cluster.
 */
async function readTargets(options: ReadLogsOptions, context: ReadContext, keys: readonly PodLogKey[]): Promise<readonly PodLogView[]> {
  const { caller, signal } = context;
  const byCluster = Map.groupBy(keys, ({ target }) => target.cluster.name);
  const rights = new Map(
    await Promise.all(
      [...byCluster].map(async ([cluster, ofCluster]) => {
        const namespaces = [...new Set(ofCluster.map(({ target }) => target.namespace))];
        return [cluster, await logRightIn(options.access, { caller, cluster, namespaces }, signal)] as const;
      }),
    ),
  );
  const limit = createConcurrencyLimit(maxContainers);
  const read = async ({ target, extent }: PodLogKey): Promise<PodLogView> => {
    const { cluster, ...place } = target;
    const refused = rights.get(cluster.name)?.refusal(target.namespace);
    if (refused !== undefined) return withFault(target, refused);
    const member = options.member(cluster.name);
    if (member === undefined) return withFault(target, hasLeft(cluster.name));
    const log = await limit.run(() => fetchLog({ api: apiForCaller(member, context), ...place }, extent, signal), signal);
    if (log === undefined) throw signal.reason;
    return { ...target, ...log };
  };
  return await Promise.all(keys.map(read));
}

function withFault(target: LogTarget, fault: Fault): PodLogView {
  return { ...target, lines: [], truncated: false, fault };
}

/** Creates the fault of a cluster that has left the fleet. */
export function hasLeft(cluster: ClusterName): Fault {
  return fault('GONE', 'the cluster has left the fleet', { cluster, retry: 'NEVER' });
}

function noSuchContainer({ cluster, container }: LogTarget, pod: KubernetesObject): Fault {
  const known = podContainersOf(pod).slice(0, maxContainers).join(', ');
  const message = `expected one of the Pod's containers (${known}), got ${JSON.stringify(container.slice(0, 80))}`;
  return fault('NOT_FOUND', message, { cluster: cluster.name, kind: podKind, retry: 'NEVER' });
}
