import { impersonationOf } from '../../../src/changes/acting-clients.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { KubernetesObject } from '../../../src/core/objects.ts';
import { createSensitiveKinds } from '../../../src/core/sensitive-kinds.ts';
import { listRulesIn } from '../../../src/manifests/list-rules.ts';
import type { ClusterShare } from '../../../src/propagate/model/inventory.ts';
import type { PlannedCluster, PlannedObject, PropagationPlan } from '../../../src/propagate/model/plan.ts';
import { parseSpec } from '../../../src/propagate/model/spec.ts';
import { createPlanner } from '../../../src/propagate/plan/create-planner.ts';
import type { Planner } from '../../../src/propagate/plan/planner.ts';
import type { PlannerPorts, PlanRequest } from '../../../src/propagate/plan/snapshot/plan-request.ts';
import type { HubRecords } from '../../../src/propagate/plan/snapshot/sources.ts';
import { never } from '../../support/cluster/transport.ts';
import { loadBaseline } from '../../support/kubernetes-objects.ts';
import { type PropagationWorld, type PropagationWorldOptions, startPropagationWorld } from '../../support/propagate/propagation-world.ts';

/** A planner over embedded clusters. The first cluster is the hub. The test gives the shares. */
export interface PlannerWorld extends AsyncDisposable {
  readonly world: PropagationWorld;
  readonly planner: Planner;
  /**
   * Makes a request from the document of a spec.
   *
   * @throws {Error} if the document is no valid spec.
   */
  request(document: Readonly<Record<string, unknown>>, more?: Partial<PlanRequest>): PlanRequest;
  plan(document: Readonly<Record<string, unknown>>, more?: Partial<PlanRequest>): Promise<PropagationPlan>;
  preflight(document: Readonly<Record<string, unknown>>, more?: Partial<PlanRequest>): Promise<PropagationPlan>;
}

export interface PlannerWorldOptions extends PropagationWorldOptions {
  readonly hubless?: true;
  /** The shares on the hub. */
  readonly shares?: readonly ClusterShare[] | 'unreadable';
  /** Replaces the records of the hub about other Propagations. Default: there are none. */
  readonly records?: Partial<HubRecords>;
  /** Default: `one`. */
  readonly accounts?: PlannerPorts['accounts'];
  /** Default: the requester may see everything. */
  readonly visibility?: PlannerPorts['visibility'];
}

const model = loadBaseline();

export async function startPlannerWorld(
  fleet: Readonly<Record<string, readonly KubernetesObject[]>>,
  { hubless, shares = [], records, accounts, visibility, ...options }: PlannerWorldOptions = {},
): Promise<PlannerWorld> {
  const world = await startPropagationWorld(fleet, options);
  const ports: PlannerPorts = {
    members: world.members,
    ...(hubless === undefined
      ? { hub: { ...hubOf(world, shares), ...records, shares: { ...hubOf(world, shares).shares, ...records?.shares } } }
      : {}),
    clientOf: (cluster, actor) => world.clientOf(cluster, impersonationOf(actor)),
    listRulesOf: listRulesIn(() => model),
    sensitiveKinds: createSensitiveKinds(['Config.example.com']),
    clock: world.clock,
    log: silentLog,
    visibility,
    ...(accounts === undefined ? {} : { accounts }),
  };
  const planner = createPlanner(ports);
  const request = (document: Readonly<Record<string, unknown>>, more: Partial<PlanRequest> = {}): PlanRequest => {
    const spec = parseSpec(JSON.parse(JSON.stringify({ placement: {}, ...document })));
    if ('problems' in spec) throw new Error(JSON.stringify(spec.problems));
    return { namespace: 'default', name: 'web', spec, purpose: 'decide', signal: never, ...more };
  };
  return {
    ...{ world, planner, request },
    plan: (document, more) => world.pumped(planner.plan(request(document, more))),
    preflight: (document, more) => world.pumped(planner.preflight(request(document, more))),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

function hubOf({ hub }: PropagationWorld, shares: readonly ClusterShare[] | 'unreadable'): NonNullable<PlannerPorts['hub']> {
  const fault = { code: 'UNREACHABLE', cluster: hub.cluster, message: 'no answer', retry: 'LATER' } as const;
  const unwanted = () => Promise.reject(new Error('a planner writes nothing'));
  return {
    cluster: hub.cluster,
    shares: { load: async () => (shares === 'unreadable' ? { fault } : shares), save: unwanted, remove: unwanted, read: () => undefined },
    propagations: { all: () => [] },
  };
}

/**
 * Returns one cluster of a plan.
 *
 * @throws {Error} if the plan does not have it.
 */
export function shown(plan: PropagationPlan, cluster: string): PlannedCluster {
  const found = plan.clusters.find((one) => one.cluster === cluster);
  if (found === undefined) throw new Error(`expected ${cluster} in the plan, got ${JSON.stringify(plan)}`);
  return found;
}

/**
 * Returns the first object of a cluster in a plan.
 *
 * @throws {Error} if there is none.
 */
export function firstIn(plan: PropagationPlan, cluster: string): PlannedObject {
  const [object] = shown(plan, cluster).objects;
  if (object === undefined) throw new Error(`expected an object in ${cluster}, got ${JSON.stringify(plan)}`);
  return object;
}
