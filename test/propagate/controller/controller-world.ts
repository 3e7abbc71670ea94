import type { Caller } from '../../../src/access/access.ts';
import { noAudit } from '../../../src/audit/audit.ts';
import { type ActingIdentity, impersonationOf } from '../../../src/changes/acting-clients.ts';
import { createObjectClient } from '../../../src/changes/create-object-client.ts';
import type { WriteContext } from '../../../src/changes/write-context.ts';
import type { ClusterApi, LiveAnswer, LiveRequest } from '../../../src/cluster/cluster-api.ts';
import { isJsonObject, type JsonObject } from '../../../src/core/json.ts';
import { type ClusterName, clusterName } from '../../../src/core/names.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { listRulesIn } from '../../../src/manifests/list-rules.ts';
import { createPropagations } from '../../../src/propagate/api/create-propagations.ts';
import { type Controller, type ControllerOptions, createController } from '../../../src/propagate/controller/create-controller.ts';
import { createHubStores, type HubStores } from '../../../src/propagate/hub/hub-stores.ts';
import type { Propagation } from '../../../src/propagate/model/propagation.ts';
import type { PropagationInput, PropagationOutcome, Propagations } from '../../../src/propagate/model/propagations.ts';
import { createPlanner } from '../../../src/propagate/plan/create-planner.ts';
import { startControllers } from '../../../src/sim/start-controllers.ts';
import { loadBaseline } from '../../support/kubernetes-objects.ts';
import { createLeaseServer } from '../../support/propagate/lease-server.ts';
import { type PropagationWorld, type PropagationWorldOptions, startPropagationWorld } from '../../support/propagate/propagation-world.ts';
import { expectLawful } from '../../support/propagate/write-history.ts';

/** A process with its own controller. Writes of its Lease are not counted. */
interface ControllerProcess {
  readonly controller: Controller;
  /** Number of writes that were sent, without dry runs. */
  readonly writes: number;
  /** Suspends the process like SIGSTOP, until `resume` (SIGCONT). */
  stand(): void;
  resume(): void;
  /** Ends the process like `kill -9`: its further requests reach no server. */
  kill(): void;
  /** Stops the process like SIGTERM. */
  stop(): Promise<void>;
}

export interface ControllerWorldOptions extends PropagationWorldOptions {
  /** True if Deployments roll out and Jobs run. */
  readonly living?: true;
  /** With `many`, the user of a request is the key of its caller, and copies are written as the requester. Default: `one`. */
  readonly accounts?: ControllerOptions['accounts'];
  /** Further work of the leader, created for each process. Default: none. */
  readonly leaderWork?: (process: LeaderProcess) => ControllerOptions['leaderWork'];
}

/** The services of a process for the further work of its leader. */
export type LeaderProcess = Pick<ControllerOptions, 'hub' | 'stores' | 'planner' | 'clock' | 'log'>;

interface ProcessOptions {
  /** Number of writes after which the process is dead. The last write is done, but its answer is lost. */
  readonly life?: number;
  /** Number of writes after which the process is suspended (SIGSTOP) until `resume`. It sends no request and receives no answer. */
  readonly standsAfter?: number;
  /** `own`: a separate Lease, so that two processes lead. Default: the Lease of the hub. */
  readonly lease?: 'own';
}

/** Clusters, a hub, requesters, and processes with controllers. */
export interface ControllerWorld extends AsyncDisposable {
  readonly world: PropagationWorld;
  readonly stores: HubStores;
  readonly propagations: Propagations;
  readonly context: WriteContext;
  startProcess(options?: ProcessOptions): ControllerProcess;
  propagate(input: PropagationInput, digest?: string): Promise<PropagationOutcome>;
  /** The Propagation from the mirror, at once. */
  mirrored(name: string): Propagation | undefined;
  /** The Propagation from the hub. Undefined if it does not exist. */
  stored(name: string): Promise<Propagation | undefined>;
  /**
   * Advances time until the Propagation is in this phase.
   *
   * @throws {Error} With its status after `withinMs`. Default: a minute.
   */
  phase(name: string, phase: string, withinMs?: number): Promise<Propagation>;
  /** Advances time until the Propagation does not exist any more. */
  gone(name: string, withinMs?: number): Promise<void>;
  /** Frees the Lease, so that the next process need not wait long. */
  freeLease(): void;
}

const model = loadBaseline();

export async function startControllerWorld(
  fleet: Readonly<Record<string, readonly KubernetesObject[]>>,
  { living, leaderWork, accounts = 'one', ...options }: ControllerWorldOptions = {},
): Promise<ControllerWorld> {
  const world = await startPropagationWorld(fleet, options);
  const life = new AbortController();
  if (living === true) {
    const { clock } = world;
    for (const name of Object.keys(fleet)) void startControllers(world.cluster(name), { clock, objects: [node(name)] }, life.signal);
  }
  const { clock, log, members, hub } = world;
  const stores = createHubStores(hub, life.signal);
  const shared = { sensitiveKinds: { has: () => false }, listRulesOf: listRulesIn(() => model), clock, log };
  const actingAs = (identity: ActingIdentity) => (accounts === 'one' ? undefined : impersonationOf(identity));
  const planner = createPlanner({
    members,
    hub: { ...stores, cluster: hub.cluster },
    clientOf: (name, identity) => world.clientOf(name, actingAs(identity)),
    accounts,
    ...shared,
  });
  const requesterOfCaller = ({ key }: Caller) => ({ user: accounts === 'one' ? 'gateway' : key, groups: [], extra: {} });
  const propagations = createPropagations({ planner, hub: stores, audit: noAudit, requesterOfCaller, clock });
  const context = { caller: { key: 'local' }, signal: life.signal };
  const processes = new Set<AbortController>();
  let count = 0;

  function startProcess(options: ProcessOptions = {}): ControllerProcess {
    const end = new AbortController();
    processes.add(end);
    const mortal = createMortal(options, options.lease === 'own' ? createLeaseServer(clock).hub().members.api(hub.cluster) : undefined);
    const api = (name: ClusterName) => mortal.api(members.api(name));
    const clientOf = (name: ClusterName, identity?: ActingIdentity) => {
      const reached = api(name);
      return reached === undefined ? undefined : createObjectClient(reached, { as: identity && actingAs(identity) });
    };
    const ownHub = { ...hub, members: { ...members, api }, client: () => clientOf(hub.cluster) };
    const ownStores = createHubStores(ownHub, end.signal);
    count += 1;
    const leaseNamespaceRule = { namespace: 'muster-system', isRequired: false };
    const own = { hub: ownHub, stores: ownStores, planner, leaseNamespaceRule, clock, log };
    const controller = createController(
      { ...shared, ...own, clientOf, accounts, identity: `process-${count}`, leaderWork: leaderWork?.(own) },
      end.signal,
    );
    return {
      controller,
      get writes() {
        return mortal.writes();
      },
      stand: mortal.stand,
      resume: mortal.resume,
      kill() {
        mortal.kill();
        end.abort();
      },
      stop: () => world.pumped(Promise.resolve(controller[Symbol.asyncDispose]())),
    };
  }

  async function stored(name: string): Promise<Propagation | undefined> {
    const found = await world.pumped(stores.propagations.fetch({ namespace: 'default', name }, life.signal));
    if (found === 'absent') return undefined;
    if ('fault' in found) throw new Error(`expected an answer about ${name}, got ${JSON.stringify(found)}`);
    return found;
  }

  /** Reads the mirror, because a live read would advance time. */
  function mirrored(name: string): Propagation | undefined {
    const read = stores.propagations.read({ namespace: 'default', name });
    return read.result === 'held' ? read.propagation : undefined;
  }

  return {
    ...{ world, stores, propagations, context, startProcess, stored, mirrored },
    propagate: (input, digest) => world.pumped(propagations.propagate(context, { input, digest })),
    async phase(name, phase, withinMs) {
      const isSo = () => {
        const now = mirrored(name);
        return now?.status.phase === phase && now.status.observedGeneration === now.metadata.generation;
      };
      try {
        await world.until(isSo, withinMs);
      } catch {
        throw new Error(`expected ${name} to be ${phase}, got ${JSON.stringify(mirrored(name)?.status ?? null, null, 1)}`);
      }
      const found = mirrored(name);
      if (found === undefined) throw new Error(`expected ${name}`);
      return found;
    },
    gone: (name, withinMs) => world.until(() => stores.propagations.read({ namespace: 'default', name }).result === 'absent', withinMs),
    freeLease: () => void world.cluster(hub.cluster).remove('Lease.coordination.k8s.io', 'muster-controller', 'muster-system'),
    async [Symbol.asyncDispose]() {
      try {
        // Rules that hold in every run.
        expectLawful({ hub: hub.cluster, clusters: Object.fromEntries(Object.keys(fleet).map((name) => [name, world.cluster(name)])) });
      } finally {
        for (const end of processes) end.abort();
        life.abort();
        await world[Symbol.asyncDispose]();
      }
    },
  };
}

interface Mortal {
  api(api: ClusterApi | undefined): ClusterApi | undefined;
  writes(): number;
  stand(): void;
  resume(): void;
  kill(): void;
}

/** True for requests that change objects and are no dry runs. Requests about a Lease do not count. */
function isCounted({ method, path, query, body }: LiveRequest): boolean {
  if (method === 'GET' || path.includes('leases') || path.includes('selfsubjectaccessreviews')) return false;
  return query?.dryRun === undefined && !(isJsonObject(body) && body.dryRun !== undefined);
}

function createMortal(
  { life = Number.POSITIVE_INFINITY, standsAfter = Number.POSITIVE_INFINITY }: ProcessOptions,
  ownLease: ClusterApi | undefined,
): Mortal {
  let writes = 0;
  let isDead = false;
  let standing: PromiseWithResolvers<void> | undefined;
  const stand = () => {
    standing ??= Promise.withResolvers();
  };

  /** An answer that never comes. It ends with its signal, like every request. */
  const silence = (signal: AbortSignal): Promise<LiveAnswer> =>
    new Promise((resolve) => {
      const fault = { code: 'TIMED_OUT', cluster: clusterName('dead'), message: 'nobody answers', retry: 'LATER' } as const;
      const end = () => resolve({ type: 'failed', fault });
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });

  async function call(request: LiveRequest, ask: () => Promise<LiveAnswer>, signal: AbortSignal): Promise<LiveAnswer> {
    await standing?.promise;
    if (isDead) return silence(signal);
    if (isCounted(request)) writes += 1;
    const isLast = isCounted(request) && writes === life;
    if (isLast) isDead = true;
    if (isCounted(request) && writes === standsAfter) stand();
    const answer = await ask();
    await standing?.promise;
    return isLast ? silence(signal) : answer;
  }

  /** One wrapper for each cluster, so that all its writes are counted together. */
  const apis = new WeakMap<ClusterApi, ClusterApi>();

  return {
    writes: () => writes,
    stand,
    resume() {
      standing?.resolve();
      standing = undefined;
    },
    kill() {
      isDead = true;
      standing?.resolve();
    },
    api(api) {
      if (api === undefined) return undefined;
      const of = ({ path }: LiveRequest) => (path.includes('leases') && ownLease !== undefined ? ownLease : api);
      const send: ClusterApi['send'] = (request, signal) => call(request, () => of(request).send(request, signal), signal);
      const mortal = apis.get(api) ?? { ...api, send };
      apis.set(api, mortal);
      return mortal;
    },
  };
}

/** A Node that Pods run on. */
function node(cluster: string): KubernetesObject {
  const status = { allocatable: { cpu: '64', memory: '256Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${cluster}` }, status };
}

/** Returns the numbers of the revisions, from newest to oldest. `2 back` was rolled back. */
export async function revisionsOf({ world, stores, stored, context }: ControllerWorld, name: string): Promise<readonly string[]> {
  const propagation = await stored(name);
  if (propagation === undefined) throw new Error(`expected ${name}`);
  const kept = await world.pumped(stores.revisions.list(propagation, context.signal));
  if ('fault' in kept) throw new Error(`expected revisions of ${name}, got ${JSON.stringify(kept)}`);
  return kept.map(({ revision, isRolledBack }) => `${revision}${isRolledBack ? ' back' : ''}`);
}

/** An intent in `default`. */
export function intent(name: string, template: readonly JsonObject[], more: JsonObject = {}): PropagationInput {
  return { namespace: 'default', name, template: template.map((json) => ({ json })), placement: {}, ...more };
}

export function configMap(name: string, data: Readonly<Record<string, string>>): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

export function job(name: string): JsonObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'run', image: 'busybox' }] } } },
  };
}

export function deployment(name: string, replicas: number, image = 'registry.example.com/web:1.0'): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image }] } },
    },
  };
}
