import { clusterFailure } from '../cluster/cluster-failure.ts';
import type { Kubeconfig, KubeconfigContext } from '../cluster/kubeconfig/kubeconfig.ts';
import type { Clock } from '../core/clock.ts';
import { MusterError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { clusterName } from '../core/names.ts';
import { nearestWord } from '../core/nearest-word.ts';
import { type ClusterCandidate, type ClusterListing, type ClusterSource, shownName } from './cluster-source.ts';
import { watchFiles } from './file-watch.ts';
import type { MemberSettings } from './member.ts';

/** A cluster that the config file names, with its settings. */
interface NamedCluster extends Omit<MemberSettings, 'namespaces'> {
  readonly name: string;
  /** Default: the usual kubeconfig. */
  readonly kubeconfig?: string;
  /** Default: the current context of the kubeconfig. */
  readonly context?: string;
  readonly insecure: boolean;
  readonly namespaces: readonly string[];
}

export interface KubeconfigSourceOptions {
  /** Reads the named kubeconfig, or the usual one. Returns undefined if the usual places have none. Throws if the file is invalid. */
  readonly load: (file: string | undefined) => Promise<Kubeconfig | undefined>;
  /** The path of the usual kubeconfig, if the operator named one. */
  readonly kubeconfig?: string;
  /** The contexts to use, in this order. Empty: all contexts, the current one first. */
  readonly contexts: readonly string[];
  /** Reads the clusters that the config file names. If it names any, only these are used. */
  readonly clusters: () => Promise<readonly NamedCluster[]>;
  /** The config file, which is watched together with the kubeconfigs. Absent if there is none. */
  readonly configFile?: string;
  /** The policy for Secrets in contexts that the config file does not name. */
  readonly secrets: MemberSettings['secrets'];
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Opens the clusters of the operator's kubeconfig and config file, and follows the files.
 *
 * Returns undefined if no cluster, context or kubeconfig is named, and the usual places have no kubeconfig or one without contexts.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if a named file, context or cluster is absent or broken.
 */
export async function openKubeconfigSource(options: KubeconfigSourceOptions): Promise<ClusterSource | undefined> {
  const first = await readOnce(options);
  if (first === undefined) return undefined;
  demandUsable(first.candidates, options);
  return { watch: (signal) => follow(first, options, signal) };
}

interface KubeconfigReading {
  readonly candidates: readonly ClusterCandidate[];
  /** The files that were read. */
  readonly paths: readonly string[];
}

async function* follow(first: KubeconfigReading, options: KubeconfigSourceOptions, signal: AbortSignal): AsyncIterable<ClusterListing> {
  yield { candidates: first.candidates };
  let paths = first.paths;
  let broken = false;
  while (!signal.aborted) {
    for await (const _ of watchFiles(paths, options.clock, signal)) {
      const next = await readAgain(options, broken);
      broken = next === undefined;
      if (next === undefined) continue;
      yield { candidates: next.candidates };
      const moved = next.paths.join('\n') !== paths.join('\n');
      paths = next.paths;
      if (moved) break;
    }
  }
}

/** Reads the files again. Returns undefined while they are broken, so that the last good set stays in effect, and logs that once. */
async function readAgain(options: KubeconfigSourceOptions, wasBroken: boolean): Promise<KubeconfigReading | undefined> {
  try {
    const reading = (await readOnce(options)) ?? { candidates: [], paths: [] };
    if (wasBroken) options.log.info({ clusters: reading.candidates.length }, 'the kubeconfig can be read again');
    return reading;
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    if (!wasBroken) options.log.warn({ problem: error.message }, 'the kubeconfig has become unreadable: its clusters stay as they were');
    return undefined;
  }
}

async function readOnce(options: KubeconfigSourceOptions): Promise<KubeconfigReading | undefined> {
  const named = await options.clusters();
  const own = options.configFile === undefined ? [] : [options.configFile];
  if (named.length > 0) {
    const reading = await readNamed(named, options);
    return { candidates: reading.candidates, paths: [...own, ...reading.paths] };
  }
  const kubeconfig = await options.load(options.kubeconfig);
  if (kubeconfig === undefined || kubeconfig.contexts.length === 0) {
    if (options.contexts.length === 0 && kubeconfig?.origin !== 'named') return undefined;
    throw new MusterError('BAD_INPUT', nothingToTake(kubeconfig, options.contexts));
  }
  const contexts = options.contexts.length === 0 ? currentFirst(kubeconfig) : options.contexts.map((name) => contextOf(kubeconfig, name));
  return {
    candidates: [...new Set(contexts)].map((context) =>
      candidateOf(context, { name: context.name, settings: settingsOfContext(context, options) }),
    ),
    paths: [...own, ...kubeconfig.paths],
  };
}

async function readNamed(named: readonly NamedCluster[], options: KubeconfigSourceOptions): Promise<KubeconfigReading> {
  const loads = new Map<string | undefined, Promise<Kubeconfig | undefined>>();
  const loaded = (file: string | undefined) => {
    const loading = loads.get(file) ?? options.load(file);
    loads.set(file, loading);
    return loading;
  };
  const candidates: ClusterCandidate[] = [];
  for (const cluster of selected(named, options.contexts)) {
    const kubeconfig = await loaded(cluster.kubeconfig ?? options.kubeconfig);
    if (kubeconfig === undefined)
      throw new MusterError('BAD_INPUT', `cluster ${cluster.name}: expected a kubeconfig, found none in the usual places`);
    candidates.push(namedCandidate(cluster, contextOf(kubeconfig, cluster.context ?? kubeconfig.currentContext, cluster.name)));
  }
  const files = await Promise.all(loads.values());
  return { candidates, paths: files.flatMap((file) => file?.paths ?? []) };
}

/** Selects clusters of the config file by `--context`, which may be a cluster's name or its context. */
function selected(named: readonly NamedCluster[], contexts: readonly string[]): readonly NamedCluster[] {
  if (contexts.length === 0) return named;
  return contexts.map((wanted) => {
    const found = named.find(({ name, context }) => name === wanted || context === wanted);
    if (found !== undefined) return found;
    throw new MusterError(
      'BAD_INPUT',
      noContext(
        wanted,
        named.map(({ name }) => name),
      ),
    );
  });
}

function namedCandidate(cluster: NamedCluster, context: KubeconfigContext): ClusterCandidate {
  const { name, kubeconfig: _, context: __, insecure, namespaces, ...settings } = cluster;
  const candidate = candidateOf(context, { name, settings: { ...settings, namespaces: withOwnNamespace(namespaces, context) } });
  if (!insecure || candidate.result === 'broken') return candidate;
  return { ...candidate, endpoint: { ...candidate.endpoint, trust: { type: 'unverified' } } };
}

function candidateOf(context: KubeconfigContext, as: { readonly name: string; readonly settings: MemberSettings }): ClusterCandidate {
  if (context.result === 'broken')
    return {
      result: 'broken',
      name: shownName(as.name),
      problem: clusterFailure('INVALID', context.problem, 'NEVER'),
      settings: as.settings,
    };
  const name = clusterName(as.name);
  return { result: 'usable', name, endpoint: { ...context.endpoint, name }, settings: as.settings };
}

function settingsOfContext(context: KubeconfigContext, { secrets }: KubeconfigSourceOptions): MemberSettings {
  return { labels: {}, namespaces: withOwnNamespace([], context), secrets, authorization: 'sar' };
}

function withOwnNamespace(namespaces: readonly string[], context: KubeconfigContext): readonly string[] {
  const own = context.result === 'usable' ? context.endpoint.namespace : undefined;
  return own === undefined || namespaces.includes(own) ? namespaces : [...namespaces, own];
}

/** Puts the current context first, because the first of two contexts for one cluster wins. */
function currentFirst({ contexts, currentContext }: Kubeconfig): readonly KubeconfigContext[] {
  return contexts.toSorted((a, b) => Number(b.name === currentContext) - Number(a.name === currentContext));
}

function contextOf({ contexts, paths }: Kubeconfig, name: string | undefined, cluster?: string): KubeconfigContext {
  const where = cluster === undefined ? '' : `cluster ${cluster}: `;
  if (name === undefined) throw new MusterError('BAD_INPUT', `${where}expected a context, as ${paths.join(', ')} has no current one`);
  const found = contexts.find((context) => context.name === name);
  if (found !== undefined) return found;
  throw new MusterError(
    'BAD_INPUT',
    `${where}${noContext(
      name,
      contexts.map((context) => context.name),
    )}`,
  );
}

function noContext(name: string, known: readonly string[]): string {
  const meant = nearestWord(name, known);
  const advice =
    meant === undefined
      ? `expected one of ${known
          .slice(0, 10)
          .map((one) => JSON.stringify(one))
          .join(', ')}`
      : `did you mean ${JSON.stringify(meant)}?`;
  return `no context ${JSON.stringify(name)} in the kubeconfig; ${advice}`;
}

function nothingToTake(kubeconfig: Kubeconfig | undefined, contexts: readonly string[]): string {
  if (kubeconfig !== undefined) return `the kubeconfig ${kubeconfig.paths.join(', ')} has no contexts`;
  return `no kubeconfig found for the context ${JSON.stringify(contexts[0])}: expected --kubeconfig, KUBECONFIG or ~/.kube/config`;
}

/** Throws if a named context is broken, or if all are. A broken context among others only shows a fault. */
function demandUsable(candidates: readonly ClusterCandidate[], { contexts }: KubeconfigSourceOptions): void {
  const broken = candidates.filter((candidate) => candidate.result === 'broken');
  const first = broken[0];
  if (first !== undefined && (contexts.length > 0 || broken.length === candidates.length))
    throw new MusterError('BAD_INPUT', first.problem.message);
}
