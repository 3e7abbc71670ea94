import type { V1Node, V1Pod, V1PodSpec } from '@kubernetes/client-node';
import type { Members } from '../../changes/members.ts';
import type { Fault } from '../../core/faults.ts';
import type { ClusterName } from '../../core/names.ts';
import type { TypedObject } from '../../core/objects.ts';
import { printQuantity } from '../../core/quantities.ts';
import type { Stored } from '../../core/stored.ts';
import { acceptsPod } from '../../propagate/plan/placing/node-fit.ts';
import { type NodeRoom, nodeRoomsOf, onePod } from '../../propagate/plan/placing/node-rooms.ts';
import {
  addAmounts,
  amountsIn,
  type ResourceAmounts,
  requestsOf,
  subtractAmounts,
  timesThatFit,
} from '../../propagate/plan/placing/resource-amounts.ts';
import { roomKinds } from '../../propagate/plan/snapshot/member-workloads.ts';
import type { RecordedRoom } from '../model/migration-status-definition.ts';

/** The replicas of one application, for the check of the room. */
interface ReplicasToPlace {
  readonly count: number;
  readonly podSpec: Stored<V1PodSpec> | undefined;
}

/** The result of the check for one application: its figures, and whether it fits. */
interface RoomCheck {
  readonly needs: RecordedRoom;
  /** The room before the application takes its part. */
  readonly free: RecordedRoom;
  readonly fits: boolean;
  /** Why the application does not fit, with figures. Absent if it fits. */
  readonly message?: string;
}

/** The free room of a cluster. Applications that fit take their part of it, so later applications see less. */
export interface FreeRoom {
  /** The room that is free now. */
  readonly free: () => RecordedRoom;
  /** Checks replicas and, with `take`, reserves their room if they fit. */
  check(replicas: ReplicasToPlace, options: { readonly take: boolean }): RoomCheck;
}

/**
 * Reads the free room of a cluster from its mirrors of Nodes and Pods. Returns a fault if one of them cannot be read.
 *
 * The room is the allocatable resources of the Nodes that are ready and schedulable, minus the requests of the Pods there. Replicas fit if
 * they need less than is free, of Pods and of CPU and memory, and if the Nodes that accept them have room for each of them. The room of the
 * Nodes is then taken evenly, as the Kubernetes scheduler does by default.
 */
export function readFreeRoom({ objects }: Pick<Members, 'objects'>, cluster: ClusterName): FreeRoom | { readonly fault: Fault } {
  const [allNodes, allPods] = roomKinds.map((kind) => objects.all(cluster, kind));
  if (allNodes === undefined || allPods === undefined) {
    const faults = roomKinds.map((kind) => objects.read(cluster, kind, { namespace: '', name: '' }));
    const unread = faults.find((state) => state.result === 'unread');
    if (unread?.result === 'unread') return { fault: unread.fault };
  }
  return createFreeRoom((allNodes ?? []) as readonly TypedObject<V1Node>[], (allPods ?? []) as readonly TypedObject<V1Pod>[]);
}

/** Creates the room of these Nodes, less the requests of these Pods. */
export function createFreeRoom(allNodes: Iterable<TypedObject<V1Node>>, allPods: Iterable<TypedObject<V1Pod>>): FreeRoom {
  let rooms: readonly NodeRoom[] = nodeRoomsOf(allNodes, allPods).filter(({ count }) => count > 0);
  const freeAmounts = () => rooms.map(({ free }) => free).reduce(addAmounts, new Map());
  return {
    free: () => recordedRoom(freeAmounts()),
    check({ count, podSpec }, { take }) {
      const each = addAmounts(requestsOf(podSpec), onePod);
      const needed = multiplyAmounts(each, count);
      const free = freeAmounts();
      const figures = { needs: recordedRoom(needed), free: recordedRoom(free) };
      const short = count === 0 ? undefined : shortageOf(needed, free);
      if (short !== undefined) return { ...figures, fits: false, message: short };
      const accepts = ({ node }: NodeRoom) => podSpec === undefined || node === undefined || acceptsPod(node, podSpec);
      const times = rooms.map((room) => (accepts(room) ? timesThatFit(room.free, each) : 0));
      const possible = times.reduce((sum, one) => sum + one, 0);
      if (possible < count) {
        const why = rooms.some(accepts) ? 'no Node has enough for another one' : 'no Node accepts them, because of labels or taints';
        return { ...figures, fits: false, message: `the Nodes have room for ${possible} of ${count} replicas: ${why}` };
      }
      if (take) rooms = withReplicas(rooms, { count, times, each });
      return { ...figures, fits: true };
    },
  };
}

/**
 * Returns the same room for requesters who may not see it: the checks have the same results, but the free room is shown as zeros, and
 * messages have no figures.
 */
export function withoutFigures({ check }: FreeRoom): FreeRoom {
  return {
    free: () => noRoom,
    check(replicas, options) {
      const { needs, fits } = check(replicas, options);
      return { needs, free: noRoom, fits, ...(fits ? {} : { message: 'the target has too little free room for its replicas' }) };
    },
  };
}

/** The resources whose sums are compared, with the name that messages show. */
const compared = [
  ['pods', 'Pods'],
  ['cpu', 'CPU'],
  ['memory', 'memory'],
] as const;

/** Returns a message if as much or more is needed than is free. A resource that is not requested is not compared. */
function shortageOf(needed: ResourceAmounts, free: ResourceAmounts): string | undefined {
  for (const [name, shown] of compared) {
    const [wanted = 0, left = 0] = [needed.get(name), free.get(name)];
    if (wanted === 0 || wanted < left) continue;
    return `needs ${printAmount(name, wanted)} ${shown}, and ${printAmount(name, left)} are free: expected less than is free`;
  }
  return undefined;
}

/**
 * Subtracts the room of the replicas from the Nodes. Each replica goes to the Node that has room for the most further replicas. `times` has
 * that number for each Node. Takes O(n log m) for n Nodes that each have room for at most m replicas.
 */
function withReplicas(
  rooms: readonly NodeRoom[],
  { count, times, each }: { readonly count: number; readonly times: readonly number[]; readonly each: ResourceAmounts },
): readonly NodeRoom[] {
  let [low, high] = [0, Math.max(...times, 0)];
  // Finds the lowest level at which at most `count` replicas are placed, if every Node is filled until it has room for `level` further
  // ones.
  while (low < high) {
    const level = Math.floor((low + high) / 2);
    if (times.reduce((sum, one) => sum + Math.max(0, one - level), 0) <= count) high = level;
    else low = level + 1;
  }
  let rest = count - times.reduce((sum, one) => sum + Math.max(0, one - low), 0);
  return rooms.map((room, index) => {
    const fit = times[index] ?? 0;
    const isExtra = rest > 0 && fit >= low && low > 0;
    const taken = Math.max(0, fit - low) + (isExtra ? 1 : 0);
    if (isExtra) rest -= 1;
    return taken === 0 ? room : { ...room, free: subtractAmounts(room.free, multiplyAmounts(each, taken)) };
  });
}

function multiplyAmounts(amounts: ResourceAmounts, factor: number): ResourceAmounts {
  return new Map([...amounts].map(([name, amount]) => [name, amount * factor]));
}

/** Adds two rooms. */
export function addRooms(a: RecordedRoom, b: RecordedRoom): RecordedRoom {
  return recordedRoom(addAmounts(amountsOf(a), amountsOf(b)));
}

/** No room, or no needs. */
export const noRoom: RecordedRoom = { pods: 0, cpu: '0', memory: '0' };

function amountsOf({ pods: slots, cpu, memory }: RecordedRoom): ResourceAmounts {
  return new Map([['pods', slots], ...amountsIn({ cpu, memory })]);
}

function recordedRoom(amounts: ResourceAmounts): RecordedRoom {
  return {
    pods: amounts.get('pods') ?? 0,
    cpu: printAmount('cpu', amounts.get('cpu') ?? 0),
    memory: printAmount('memory', amounts.get('memory') ?? 0),
  };
}

/** Prints an amount: CPU from millicores, memory from bytes, anything else as a number. */
function printAmount(name: string, amount: number): string {
  switch (name) {
    case 'cpu':
      return printQuantity({ mantissa: BigInt(amount), exponent: -3, format: 'decimal' });
    case 'memory':
      return printQuantity({ mantissa: BigInt(amount), exponent: 0, format: 'binary' });
    default:
      return String(amount);
  }
}
