import { expect, test } from 'vitest';
import type { AuditedAction } from '../../src/audit/audit.ts';
import type { PatchObjectRequest } from '../../src/changes/object-client.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { silentLog } from '../../src/core/log.ts';
import { clusterName } from '../../src/core/names.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { ClusterCandidate } from '../../src/fleet/cluster-source.ts';
import { clusterKind } from '../../src/registration/cluster-resource.ts';
import { type RegistrationPorts, writeRegistrationStatuses } from '../../src/registration/write-statuses.ts';
import type { MemberChange } from '../../src/store/member-objects.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** A hub with the Cluster `south`, whose candidate is of another generation if the test wants it. */
function createWorld({ generation = 1 } = {}) {
  const clock = createManualClock();
  const hub = clusterName('north');
  const state = { candidate: 1, object: clusterOf(generation) as KubernetesObject | undefined };
  const lines: AuditedAction[] = [];
  const statuses: JsonObject[] = [];
  let tell: (changes: readonly MemberChange[]) => void = () => undefined;
  const changed = () =>
    tell([{ type: 'object', cluster: hub, kind: clusterKind, place: { namespace: '', name: 'south' } } as MemberChange]);
  const client = {
    patch: async ({ patch }: PatchObjectRequest) => {
      const { status } = patch as { readonly status: JsonObject };
      statuses.push(status);
      state.object = { ...(state.object as KubernetesObject), status: { ...(state.object?.status as JsonObject), ...status } };
      return { result: 'answered', object: state.object, isNew: false, warnings: [] };
    },
  };
  const objects = {
    read: () => (state.object === undefined ? { result: 'absent', asOfMs: 0 } : { result: 'held', object: state.object }),
    all: () => (state.object === undefined ? [] : [state.object]),
    served: () => ({ resource: { ...clusterKind, version: 'v1alpha1', resource: 'clusters', namespaced: false } }),
    hold: () => undefined,
    onChange: (callback: typeof tell) => {
      tell = callback;
    },
  };
  const candidate = () =>
    ({
      result: 'broken',
      name: clusterName('south'),
      generation: state.candidate,
      problem: { code: 'INVALID', message: 'x' },
    }) as ClusterCandidate;
  const ports = {
    hub: { cluster: hub, client: () => client, members: { objects } },
    fleet: { roleOf: () => ({ role: 'member' }) },
    mirrors: { cluster: () => undefined },
    registered: () => new Map([[clusterName('south'), candidate()]]),
    audit: { record: async (line: AuditedAction) => lines.push(line) },
    ...{ clock, log: silentLog },
  } as unknown as RegistrationPorts;
  const term = new AbortController();
  const ended = writeRegistrationStatuses(ports, { signal: term.signal, isLeading: () => !term.signal.aborted });
  return {
    ...{ state, lines, statuses },
    settled: async () => {
      changed();
      await clock.advance(2_500);
    },
    end: async () => {
      term.abort();
      await clock.advance(0);
      await ended;
    },
  };
}

function clusterOf(generation: number): KubernetesObject {
  const metadata = { name: 'south', uid: 's', resourceVersion: '1', generation };
  return { apiVersion: clusterKind.apiVersion, kind: 'Cluster', metadata, spec: {} } as unknown as KubernetesObject;
}

test('the status is about the generation that was judged, and follows when the newer one has been read', async () => {
  const world = createWorld({ generation: 2 });
  await world.settled();
  expect(world.statuses).toMatchObject([{ observedGeneration: 1, conditions: [{ observedGeneration: 1 }] }]);
  world.state.candidate = 2;
  await world.settled();
  expect(world.statuses.at(-1)).toMatchObject({ observedGeneration: 2 });
  await world.end();
});

test('a Cluster that comes or goes has one line in the audit', async () => {
  const world = createWorld();
  await world.settled();
  world.state.candidate = 2;
  await world.settled();
  world.state.object = undefined;
  await world.settled();
  await world.settled();
  const cluster = { cluster: 'north', apiVersion: 'muster.dev/v1alpha1', kind: 'Cluster', name: 'south', uid: 's' };
  expect(world.lines).toEqual([
    { caller: { key: 'gateway' }, verb: 'register', objects: [{ ...cluster, result: 'CREATED' }] },
    { caller: { key: 'gateway' }, verb: 'unregister', objects: [{ ...cluster, result: 'DELETED' }] },
  ]);
  await world.end();
});
