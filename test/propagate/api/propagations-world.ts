import { noAudit } from '../../../src/audit/audit.ts';
import type { WriteContext } from '../../../src/changes/write-context.ts';
import { sha256Of } from '../../../src/core/json/canonical-json.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { clusterName } from '../../../src/core/names.ts';
import { createPropagations } from '../../../src/propagate/api/create-propagations.ts';
import { createHubStores, type HubStores } from '../../../src/propagate/hub/hub-stores.ts';
import { newShare } from '../../../src/propagate/hub/share-document.ts';
import type { ClusterShare, InventoryState } from '../../../src/propagate/model/inventory.ts';
import type { Note } from '../../../src/propagate/model/notes.ts';
import type { Propagation } from '../../../src/propagate/model/propagation.ts';
import type { PropagationInput, PropagationOutcome, Propagations } from '../../../src/propagate/model/propagations.ts';
import { printSpec } from '../../../src/propagate/model/spec.ts';
import type { PropagationStatus } from '../../../src/propagate/model/status-definition.ts';
import { planDigestOf } from '../../../src/propagate/plan/plan-digest.ts';
import type { Planner } from '../../../src/propagate/plan/planner.ts';
import type { PlanRequest } from '../../../src/propagate/plan/snapshot/plan-request.ts';
import { type PropagationWorld, type PropagationWorldOptions, startPropagationWorld } from '../../support/propagate/propagation-world.ts';

/** The recorded requests to the fake planner, and its next answers. */
interface ScriptedPlanner extends Planner {
  readonly asked: { readonly how: 'render' | 'plan' | 'preflight'; readonly request: PlanRequest }[];
  notes: readonly Note[];
  /** The state of the fleet, as a part of the digest. */
  fleet: string;
}

/** The operations on Propagations over a hub, with a planner whose answers the test sets. */
export interface PropagationsWorld extends AsyncDisposable {
  readonly world: PropagationWorld;
  readonly stores: HubStores;
  readonly planner: ScriptedPlanner;
  readonly propagations: Propagations;
  readonly context: WriteContext;
  /** Returns the Propagation as the hub has it. @throws {Error} If there is none. */
  stored(name?: string): Promise<Propagation>;
  /** Writes a share with one copy in this state, in place of the controller. */
  share(cluster: string, state: InventoryState): Promise<ClusterShare>;
  /** Writes a status in place of the controller. */
  setStatus(status: PropagationStatus, name?: string): Promise<void>;
  propagate(input: PropagationInput, digest?: string): Promise<PropagationOutcome>;
}

export const place = { namespace: 'default', name: 'web' };

function configMap(data: Readonly<Record<string, string>>): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'default' }, data };
}

export function input(more: Readonly<Record<string, Json>> = {}, data: Readonly<Record<string, string>> = { a: '1' }): PropagationInput {
  return { ...place, template: [{ json: configMap(data) }], placement: {}, ...more };
}

export async function startPropagations(options: PropagationWorldOptions = {}): Promise<PropagationsWorld> {
  const world = await startPropagationWorld({ hub: [] }, options);
  const life = new AbortController();
  const stores = createHubStores(world.hub, life.signal);
  const planner = scriptedPlanner();
  const requesterOfCaller = () => ({ user: 'gateway', groups: ['ops'], extra: {} });
  const propagations = createPropagations({ planner, hub: stores, audit: noAudit, requesterOfCaller, clock: world.clock });
  const context = { caller: { key: 'local' }, signal: life.signal };
  const stored = async (name = place.name) => {
    const found = await world.pumped(stores.propagations.fetch({ ...place, name }, life.signal));
    if (found === 'absent' || 'fault' in found) throw new Error(`expected ${name}, got ${JSON.stringify(found)}`);
    return found;
  };
  return {
    ...{ world, stores, planner, propagations, context, stored },
    async share(cluster, state) {
      const { metadata } = await stored();
      const key = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'settings' };
      const share = { ...newShare(metadata, clusterName(cluster)), entries: [{ key, state, uid: 'u1', health: 'Unknown' as const }] };
      const saved = await world.pumped(stores.shares.save(share, life.signal));
      if (saved.result !== 'saved') throw new Error(`expected a share, got ${JSON.stringify(saved)}`);
      return saved.share;
    },
    async setStatus(status, name) {
      const before = await stored(name);
      const written = await world.pumped(stores.propagations.patchStatus(before, { ...before.status, ...status }, life.signal));
      if (written.result !== 'written') throw new Error(`expected a status to be written, got ${JSON.stringify(written)}`);
      await world.until(() => {
        const read = stores.propagations.read({ ...place, ...(name === undefined ? {} : { name }) });
        return read.result === 'held' && read.propagation.metadata.version === written.propagation.metadata.version;
      });
    },
    propagate: (asked, digest) => world.pumped(propagations.propagate(context, { input: asked, digest })),
    async [Symbol.asyncDispose]() {
      life.abort();
      await world[Symbol.asyncDispose]();
    },
  };
}

function scriptedPlanner(): ScriptedPlanner {
  const planner: ScriptedPlanner = {
    asked: [],
    notes: [],
    fleet: 'as it is',
    render: async (request) =>
      said('render', request, { leaving: [], rejected: [], moves: [], preserved: [], away: [], fromZero: true, sources: [], contents: [] }),
    plan: async (request) => said('plan', request, { asOfMs: 0, faults: [] }),
    renderPlaced: async () => new Map(),
    preflight: async (request) => said('preflight', request, { asOfMs: 0, faults: [] }),
  };
  function said<More>(how: ScriptedPlanner['asked'][number]['how'], request: PlanRequest, more: More) {
    planner.asked.push({ how, request });
    const { requester: _, ...spec } = request.spec;
    const content = sha256Of([printSpec(spec), planner.fleet]);
    const digest = planDigestOf(content, request.replaced);
    const ok = planner.notes.every(({ severity }) => severity !== 'ERROR');
    return { ...more, content, digest, ok, clusters: [], unplaced: 0, waves: [], notes: planner.notes };
  }
  return planner;
}
