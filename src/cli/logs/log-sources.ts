import { selectorText } from '../../core/columns/label-texts.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { objectAt, valueAt } from '../../core/json-at.ts';
import type { ClusterAnswers } from '../client/cluster-answers.ts';
import type { ClusterFaultReport } from '../client/cluster-faults.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { allObjects, listPages } from '../client/list-pages.ts';
import { fullKindName } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { FoundNames, nameCondition } from '../lists/find-named.ts';
import { resolveListTargets } from '../lists/target-kinds.ts';
import { matchInTime, parseExpression } from './expressions.ts';
import type { LogArguments } from './missing-logs.ts';

/** A set of Pods whose logs are read: the Pods that `selection` selects and whose names match `expression`. */
export interface LogPodSource {
  readonly selection: LogArguments;
  /** Default: every Pod of the selection. */
  readonly expression?: RegExp | undefined;
}

/** Characters that no name of Kubernetes has, so a word with one of them is a regular expression. */
const expressionSign = /[\^$*+?()[\]{}|\\]/;

/** The words of `logs`, by what they mean. */
export interface LogWords {
  /** Names of Pods. */
  readonly names: readonly string[];
  /** `KIND/NAME` of objects that have Pods. */
  readonly workloads: readonly string[];
  readonly expressions: readonly RegExp[];
}

/** Parses the words of `logs`. @throws {CommandFailure} with exit code 2 for a broken expression. */
export function parseLogWords(words: readonly string[]): LogWords {
  const bare = words.map((word) => word.replace(/^(?:pods?|po)\//, ''));
  return {
    names: bare.filter((word) => !expressionSign.test(word) && !word.includes('/')),
    workloads: bare.filter((word) => !expressionSign.test(word) && word.includes('/')),
    expressions: bare.filter((word) => expressionSign.test(word)).map(parseExpression),
  };
}

/** The sources of words, and the exit code for workloads that were not found. */
export interface FoundLogSources {
  readonly sources: readonly LogPodSource[];
  readonly exitCode: number;
}

/**
 * Finds the Pods that the words mean. A workload gives one source for each cluster and namespace that has it.
 *
 * @param selection The clusters, namespaces, labels and container of the flags.
 * @throws {CommandFailure} if a kind has no Pods, or no cluster serves it.
 */
export async function findLogSources(
  session: Session,
  { names, workloads, expressions }: LogWords,
  { selection, report }: { readonly selection: LogArguments; readonly report: ClusterFaultReport },
): Promise<FoundLogSources> {
  const found = await findWorkloads(session, workloads, { selection, report });
  const isOnlyLabels = names.length + workloads.length + expressions.length === 0;
  const named = names.length > 0 || isOnlyLabels ? [{ selection: { ...selection, names: isOnlyLabels ? null : names } }] : [];
  return { ...found, sources: [...named, ...expressions.map((expression) => ({ selection, expression })), ...found.sources] };
}

interface Workload {
  readonly kind: string;
  readonly cluster: { readonly name: string };
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly object: JsonObject;
}

const withPods = [
  'Deployment.apps',
  'ReplicaSet.apps',
  'StatefulSet.apps',
  'DaemonSet.apps',
  'Job.batch',
  'Service.core',
  'ReplicationController.core',
];

async function findWorkloads(
  session: Session,
  words: readonly string[],
  { selection, report }: { readonly selection: LogArguments; readonly report: ClusterFaultReport },
): Promise<FoundLogSources> {
  const targets = words.map((word) => {
    const [kind = '', name = '', ...rest] = word.split('/');
    if (kind === '' || name === '' || rest.length > 0) throw new CommandFailure(exitCodes.refused, `expected KIND/NAME, got ${word}`);
    return { kind, names: [name] };
  });
  if (words.length === 0) return { sources: [], exitCode: exitCodes.good };
  const found = new FoundNames();
  const sources: LogPodSource[] = [];
  for (const target of await resolveListTargets(session, targets)) {
    const { names, answers } = found.forTarget(target);
    const kinds = target.kinds.map(fullKindName);
    if (!kinds.some((kind) => withPods.includes(kind)))
      throw new CommandFailure(exitCodes.refused, `expected a kind that has Pods (${withPods.join(', ')}), got ${target.kind}`);
    const selected = { ...allObjects, namespaces: selection.namespaces, where: nameCondition(target) };
    const fields = 'kind cluster { name } metadata { name namespace } object';
    for await (const page of listPages<Workload>(session, { kinds, selected, fields, report, answers })) {
      for (const workload of page) {
        names.add(workload.metadata.name);
        sources.push({ selection: selectionOf(workload, selection) });
      }
    }
  }
  return { sources, exitCode: found.reportMissing(session, { targets, namespaces: selection.namespaces }) };
}

/** Returns the selection of the Pods of a workload, in its cluster. */
function selectionOf({ kind, cluster, metadata, object }: Workload, selection: LogArguments): LogArguments {
  const selector = objectAt(object, 'spec', 'selector') ?? {};
  const isMap = kind === 'Service' || kind === 'ReplicationController';
  const labels = selectorText(isMap ? { matchLabels: selector as Readonly<Record<string, string>> } : selector) ?? '';
  if (labels === '')
    throw new CommandFailure(
      exitCodes.failed,
      `${cluster.name}: ${kind.toLowerCase()}/${metadata.name} has no selector, so its Pods are unknown`,
    );
  const all = selection.labels === null ? labels : `${labels},${selection.labels}`;
  return { ...selection, clusters: [cluster.name], namespaces: [metadata.namespace], labels: all };
}

/** One Pod that matches a source. */
export interface LogPod {
  readonly id: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  /** The number of its containers that are read. */
  readonly containers: number;
}

/** The GraphQL selection that `logPodOf` reads. */
export const logPodFields = 'id cluster { name } metadata { name namespace } object';

/** A Pod in an answer with `logPodFields`. */
export interface AnsweredLogPod {
  readonly id: string;
  readonly cluster: { readonly name: string };
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly object: JsonObject;
}

/** Returns the Pod of an answer. Undefined if the expression does not find its name, or it has no container of the requested name. */
export function logPodOf({ id, cluster, metadata, object }: AnsweredLogPod, { selection, expression }: LogPodSource): LogPod | undefined {
  if (expression?.test(metadata.name) === false) return undefined;
  const lists = ['initContainers', 'containers', 'ephemeralContainers'].map((list) => valueAt(object as Json, 'spec', list));
  const names = lists.flatMap((list) =>
    Array.isArray(list) ? (list as readonly { readonly name?: string }[]).map(({ name }) => name) : [],
  );
  const containers = names.filter((name) => selection.container === null || name === selection.container).length;
  return containers === 0 ? undefined : { id, cluster: cluster.name, namespace: metadata.namespace, name: metadata.name, containers };
}

/** Returns the Pods of a source. Adds the faults of clusters to `collected.report`, and the clusters that have answered to `collected.answers`. */
export async function findLogPods(
  session: Session,
  source: LogPodSource,
  collected: { readonly report: Pick<ClusterFaultReport, 'print'>; readonly answers: ClusterAnswers },
): Promise<readonly LogPod[]> {
  const { clusters, namespaces, labels, names } = source.selection;
  const where = names === null ? null : { path: 'metadata.name', in: names };
  const listing = { kinds: ['Pod.core'], selected: { ...allObjects, namespaces, labels, where }, fields: logPodFields, ...collected };
  const pods: LogPod[] = [];
  for await (const page of listPages<AnsweredLogPod>({ ...session, clusters }, listing))
    pods.push(...matchInTime(() => page.map((item) => logPodOf(item, source))).filter((pod) => pod !== undefined));
  return pods;
}

/** The largest number of containers in one request of logs. */
export const maxLogContainers = 20;

/** Returns selections of at most 20 containers each, every one in a single cluster and namespace. A Pod with more containers has a selection of its own. */
export function logBatchesOf(pods: readonly LogPod[], container: string | null): readonly LogArguments[] {
  const batches: { readonly place: string; readonly selection: LogArguments & { readonly names: string[] }; containers: number }[] = [];
  for (const { cluster, namespace, name, containers } of pods) {
    const place = JSON.stringify([cluster, namespace]);
    const open = batches.findLast((batch) => batch.place === place && batch.containers + containers <= maxLogContainers);
    if (open === undefined)
      batches.push({
        place,
        containers,
        selection: { clusters: [cluster], namespaces: [namespace], labels: null, names: [name], container },
      });
    else {
      open.selection.names.push(name);
      open.containers += containers;
    }
  }
  return batches.map(({ selection }) => selection);
}
