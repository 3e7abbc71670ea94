import type { AuditedObject } from '../../audit/audit.ts';
import { audited } from '../../audit/audited.ts';
import type { WriteContext } from '../../changes/write-context.ts';
import { hubKinds } from '../hub/hub.ts';
import { inputOf } from '../model/input-spec.ts';
import type { PropagationName, PropagationOutcome, Propagations } from '../model/propagations.ts';
import type { HubPorts, PropagationsPorts } from './api-ports.ts';
import { deletePropagation, pausePropagation, resumePropagation, rollBackPropagation } from './change-propagation.ts';
import { followWithRights, type HubVerb } from './hub-rights.ts';
import { planInput } from './plan-input.ts';
import { propagateInput } from './propagate-input.ts';
import { followPropagation, propagationPageOf, readPropagation } from './read-propagations.ts';
import { hubUnavailable, readyHub } from './ready-hub.ts';

/**
 * Creates the operations on Propagations. With `ports.rights`, each is allowed only if the hub would allow it to the caller. The result
 * needs no disposal: the stores of the hub end with the signal that they were created with.
 */
export function createPropagations(ports: PropagationsPorts): Propagations {
  const { rights, clock } = ports;
  const onHub = async (signal: AbortSignal): Promise<HubPorts> => ({ ...ports, stores: await readyHub(ports.hub, signal) });
  const mayGet = async (context: WriteContext, name: PropagationName) => rights === undefined || (await rights.mayGet(context, name));
  return {
    plan: (context, input) => planInput(ports, context, input),
    propagate: (context, request) =>
      changeOnHub(ports, { context, name: request.input, field: 'propagate', verbs: ['create', 'update', 'get'] }, async () =>
        propagateInput(await onHub(context.signal), context, request),
      ),
    async get(context, name) {
      return (await mayGet(context, name)) ? readPropagation((await onHub(context.signal)).stores, name) : undefined;
    },
    async list(context, filter) {
      if (rights?.maySeeHub(context.caller) === false) return { items: [], totalCount: 0, hasNextPage: false, hasPreviousPage: false };
      const { stores } = await onHub(context.signal);
      const isListed = await rights?.listed(context, filter.namespaces ?? undefined);
      return propagationPageOf(stores, { filter, isListed, callerKey: context.caller.key });
    },
    pause: (context, name) =>
      changeOnHub(ports, { context, name, field: 'pausePropagation', verbs: ['get', 'update'] }, async () =>
        pausePropagation(await onHub(context.signal), { context, name }),
      ),
    resume: (context, name, options) =>
      changeOnHub(ports, { context, name, field: 'resumePropagation', verbs: ['get', 'update'] }, async () =>
        resumePropagation(await onHub(context.signal), { context, name }, options),
      ),
    rollback: (context, name, revision) =>
      changeOnHub(ports, { context, name, field: 'rollbackPropagation', verbs: ['get', 'update'] }, async () =>
        rollBackPropagation(await onHub(context.signal), { context, name }, revision),
      ),
    delete: (context, name, deletion) =>
      changeOnHub(
        ports,
        { context, name, field: 'deletePropagation', verbs: ['get', 'delete', ...(deletion === undefined ? [] : (['update'] as const))] },
        async () => deletePropagation(await onHub(context.signal), { context, name }, deletion),
      ),
    async revisions(context, name, first) {
      const { signal } = context;
      if (!(await mayGet(context, name))) return [];
      const { stores } = await onHub(signal);
      const found = readPropagation(stores, name);
      if (found === undefined) return [];
      const kept = await stores.revisions.list(found.propagation, signal);
      if ('fault' in kept) throw hubUnavailable(kept.fault);
      return kept.slice(0, Math.max(0, first));
    },
    async follow(context, name, listener, signal) {
      const follow = async (changed: typeof listener.changed, until: AbortSignal) =>
        followPropagation((await onHub(context.signal)).stores, { name, listener: changed }, until);
      if (rights === undefined) await follow(listener.changed, signal);
      else await followWithRights({ rights, clock }, { context, name, listener }, follow, signal);
    },
    inputOf,
  };
}

/** One mutation field, and the rights that it needs. */
interface HubChange {
  readonly context: WriteContext;
  readonly name: PropagationName;
  readonly field: string;
  /**
   * The verbs that the caller needs. They include `get`, because the outcome shows the Propagation. Without that right the outcome is
   * `NOT_FOUND`, or `REFUSED` if they also include `create`.
   */
  readonly verbs: readonly HubVerb[];
}

/** Calls `attempt` if the caller has the rights, and writes the change to the audit log. Denied changes are logged too. */
function changeOnHub(
  { rights, audit, hub }: PropagationsPorts,
  { context, name, field, verbs }: HubChange,
  attempt: () => Promise<PropagationOutcome>,
): Promise<PropagationOutcome> {
  const { caller, requestId } = context;
  const run = async (): Promise<PropagationOutcome> => {
    const refusal = await rights?.refusalOf(context, name, verbs);
    if (refusal === undefined) return await attempt();
    if (refusal.result === 'refused') return { result: 'REFUSED', notes: [], faults: refusal.faults };
    return { result: verbs.includes('create') ? 'REFUSED' : 'NOT_FOUND', notes: [], faults: [] };
  };
  const objectOf = ({ result, propagation, faults: [failure] }: PropagationOutcome): AuditedObject => {
    const { apiVersion, kind } = hubKinds.propagation;
    const { namespace, name: own } = name;
    const uid = propagation?.propagation.metadata.uid;
    return { cluster: hub?.hub.cluster ?? '', apiVersion, kind, namespace, name: own, uid, result, code: failure?.code };
  };
  return audited(audit, { caller, requestId, verb: field }, { run, factsOf: (outcome) => ({ objects: [objectOf(outcome)] }) });
}
