import { expect, test } from 'vitest';
import type { AuditedAction } from '../../src/audit/audit.ts';
import type { PatchObjectRequest } from '../../src/changes/object-client.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { silentLog } from '../../src/core/log.ts';
import { clusterName } from '../../src/core/names.ts';
import type { KubernetesObject } from '../../src/core/objects.ts';
import type { ClusterCandidate } from '../../src/fleet/cluster-source.ts';
import type { CandidateRole } from '../../src/fleet/roster.ts';
import { clusterKind } from '../../src/registration/cluster-resource.ts';
import { type RegistrationPorts, writeRegistrationStatuses } from '../../src/registration/write-statuses.ts';
import type { MemberChange } from '../../src/store/member-objects.ts';
import type { ClusterStatus } from '../../src/watch/mirrors.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** A hub with the Cluster `south`, whose candidate is of another generation, or valid, if the test wants it. */
function createWorld({ generation = 1, isUsable = false } = {}) {
  const clock = createManualClock();
  const hub = clusterName('north');
  const state = {
    candidate: 1,
    object: clusterOf(generation) as KubernetesObject | undefined,
    member: undefined as Partial<ClusterStatus> | undefined,
    role: { role: 'member' } as CandidateRole,
    /** The number of times that the state of the member was read. */
    reads: 0,
    /** True: the mirror does not show writes. */
    isMirrorBehind: false,
  };
  const lines: AuditedAction[] = [];
  const statuses: JsonObject[] = [];
  let tell: (changes: readonly MemberChange[]) => void = () => undefined;
  const changed = () =>
    tell([{ type: 'object', cluster: hub, kind: clusterKind, objectName: { namespace: '', name: 'south' } } as MemberChange]);
  const client = {
    patch: async ({ patch }: PatchObjectRequest) => {
      const { status } = patch as { readonly status: JsonObject };
      statuses.push(status);
      const before = state.object as KubernetesObject;
      const metadata = { ...before.metadata, resourceVersion: `${Number(before.metadata.resourceVersion) + 1}` };
      const object = { ...before, metadata, status: { ...(before.status as JsonObject), ...status } };
      if (!state.isMirrorBehind) state.object = object;
      return { result: 'answered', object, isNew: false, warnings: [] };
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
      ...(isUsable ? { result: 'usable' } : { result: 'broken', problem: { code: 'INVALID', message: 'x' } }),
      name: clusterName('south'),
      generation: state.candidate,
    }) as ClusterCandidate;
  const ports = {
    hub: { cluster: hub, client: () => client, members: { objects } },
    fleet: { roleOf: () => state.role },
    mirrors: {
      cluster: () => {
        state.reads += 1;
        return state.member;
      },
    },
    registered: () => new Map([[clusterName('south'), candidate()]]),
    audit: { record: async (line: AuditedAction) => lines.push(line) },
    ...{ clock, log: silentLog },
  } as unknown as RegistrationPorts;
  const term = new AbortController();
  const ended = writeRegistrationStatuses(ports, { signal: term.signal, isLeading: () => !term.signal.aborted });
  return {
    ...{ state, lines, statuses },
    settled: async (ms = 2_500) => {
      changed();
      await clock.advance(ms);
    },
    /** Reports a change of another cluster, and lets 2.5 s pass. */
    otherChanged: async () => {
      tell([{ type: 'cluster', cluster: clusterName('east') }]);
      await clock.advance(2_500);
    },
    passed: (ms: number) => clock.advance(ms),
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

test('the status of a Cluster that is no member follows its spec, although nothing reports that the newer spec was read', async () => {
  const world = createWorld({ generation: 2 });
  world.state.role = { role: 'duplicate', same: clusterName('east') };
  await world.settled();
  expect(world.statuses.at(-1)).toMatchObject({ conditions: [{ reason: 'Duplicate', observedGeneration: 1 }] });
  world.state.candidate = 2;
  await world.passed(2_500);
  expect(world.statuses.at(-1)).toMatchObject({ observedGeneration: 2 });
  await world.end();
});

test('a change of another cluster leads to a pass only if the role has changed', async () => {
  const world = createWorld();
  await world.settled();
  const { reads } = world.state;
  await world.otherChanged();
  await world.otherChanged();
  expect(world.state.reads).toBe(reads);
  world.state.role = { role: 'duplicate', same: clusterName('east') };
  await world.otherChanged();
  expect(world.statuses.at(-1)).toMatchObject({ conditions: [{ status: 'False', reason: 'Duplicate' }] });
  await world.end();
});

test('a Cluster that joins or leaves has one line in the audit', async () => {
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

test('a new member gets one status, with its version and uid, and not one for each step of its start', async () => {
  const world = createWorld({ isUsable: true });
  await world.settled(500);
  world.state.member = { phase: 'CONNECTING' };
  await world.settled(1_500);
  world.state.member = { phase: 'SYNCED', version: 'v1.36.3' };
  await world.settled(1_500);
  expect(world.statuses).toEqual([]);
  world.state.member = { phase: 'SYNCED', version: 'v1.36.3', uid: 'u' };
  await world.settled(0);
  await world.settled();
  expect(world.statuses).toMatchObject([{ phase: 'Synced', version: 'v1.36.3', uid: 'u', conditions: [{ status: 'True' }] }]);
  await world.end();
});

test('a member that is not reached within 5 s, or that has a fault, gets its status without version and uid', async () => {
  const slow = createWorld({ isUsable: true });
  slow.state.member = { phase: 'CONNECTING' };
  await slow.settled(4_900);
  expect(slow.statuses).toEqual([]);
  await slow.settled(200);
  expect(slow.statuses).toMatchObject([{ phase: 'Connecting' }]);
  await slow.end();

  const faulty = createWorld({ isUsable: true });
  faulty.state.member = { phase: 'UNREACHABLE' };
  await faulty.settled(0);
  expect(faulty.statuses).toMatchObject([{ phase: 'Unreachable' }]);
  await faulty.end();
});

test('writes nothing while the mirror does not show the last write', async () => {
  const world = createWorld();
  world.state.isMirrorBehind = true;
  await world.settled(3_000);
  await world.settled(3_000);
  expect(world.statuses).toHaveLength(1);
  world.state.object = { ...clusterOf(1), metadata: { ...clusterOf(1).metadata, resourceVersion: '2' } };
  await world.settled();
  expect(world.statuses).toHaveLength(2);
  await world.end();
});
