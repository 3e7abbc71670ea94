import { inputOf } from '../model/input-spec.ts';
import type { Propagations } from '../model/propagations.ts';
import type { HubPorts, PropagationsPorts } from './api-ports.ts';
import { deletePropagation, pausePropagation, resumePropagation, rollBackPropagation } from './change-propagation.ts';
import { planInput } from './plan-input.ts';
import { propagateInput } from './propagate-input.ts';
import { followPropagation, propagationPageOf, readPropagation } from './read-propagations.ts';
import { hubUnavailable, readyHub } from './ready-hub.ts';

/**
 * Creates the operations on Propagations. The result needs no disposal: the stores of the hub end with the signal that they were created
 * with.
 */
export function createPropagations(ports: PropagationsPorts): Propagations {
  const onHub = async (signal: AbortSignal): Promise<HubPorts> => ({ ...ports, stores: await readyHub(ports.hub, signal) });
  return {
    plan: (context, input) => planInput(ports, context, input),
    propagate: async (context, request) => propagateInput(await onHub(context.signal), context, request),
    get: async ({ signal }, name) => readPropagation((await onHub(signal)).stores, name),
    list: async ({ caller, signal }, filter) => propagationPageOf((await onHub(signal)).stores, filter, caller.key),
    pause: async (context, name) => pausePropagation(await onHub(context.signal), { context, name }),
    resume: async (context, name, options) => resumePropagation(await onHub(context.signal), { context, name }, options),
    rollback: async (context, name, revision) => rollBackPropagation(await onHub(context.signal), { context, name }, revision),
    delete: async (context, name, deletion) => deletePropagation(await onHub(context.signal), { context, name }, deletion),
    async revisions({ signal }, name, first) {
      const { stores } = await onHub(signal);
      const found = readPropagation(stores, name);
      if (found === undefined) return [];
      const kept = await stores.revisions.list(found.propagation, signal);
      if ('fault' in kept) throw hubUnavailable(kept.fault);
      return kept.slice(0, Math.max(0, first));
    },
    follow: async (context, name, listener, signal) => followPropagation((await onHub(context.signal)).stores, { name, listener }, signal),
    inputOf,
  };
}
