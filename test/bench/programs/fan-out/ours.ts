import type { Access, Caller } from '../../../../src/access/access.ts';
import { createLocalAccess } from '../../../../src/access/local-access.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import { silentLog } from '../../../../src/core/log.ts';
import { parseResourceVersion } from '../../../../src/core/names.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { TimeSliceScheduler } from '../../../../src/core/scheduling/operation-scheduler.ts';
import { createBudget } from '../../../../src/graph/context/budget.ts';
import type { GraphContext } from '../../../../src/graph/context/context.ts';
import { buildGraph } from '../../../../src/graph/graph.ts';
import { type Authenticator, unknownCaller } from '../../../../src/identity/authenticator.ts';
import { createReads } from '../../../../src/load/create-reads.ts';
import { createLoaderFactory } from '../../../../src/load/reads/operation-loaders.ts';
import type { OperationScope } from '../../../../src/operations/operation.ts';
import type { MirrorStore } from '../../../../src/store/mirror-store.ts';
import { createStreams } from '../../../../src/streams/views/create-streams.ts';
import { createFakeMirrors, type FakeCluster, type FakeMirrors } from '../../../support/graph/fake-mirrors.ts';
import { loadBaseline, servedAs } from '../../../support/kubernetes-objects.ts';
import { startServing } from '../../../support/serving/start-serving.ts';
import { podOf } from '../../pods.ts';
import { benchCaller, createBenchAccess, engageReviewing } from '../../support/reviewing-clusters.ts';

/** The gateway's own parts from the store to the socket. Only the source of the objects belongs to the bench. */
export interface StreamingGateway {
  readonly port: number;
  /** Makes this number of changes in one turn, each to another pod, as a watch does. `stamp` becomes the label `bench`. */
  change(count: number, stamp?: string): void;
}

/** The part of the context that resolvers of a subscription without relations need. */
type BenchContext = Pick<GraphContext, 'reads' | 'streams' | 'read' | 'gateway' | 'clock' | 'budget'>;

/**
 * Serves a mirror with this number of pods.
 *
 * @param identities Number of callers with equal rights. The credential of a socket is a number, and its remainder chooses the caller. Default:
 * one in local mode.
 */
export async function startStreaming(pods: number, identities?: number): Promise<StreamingGateway> {
  const model = loadBaseline();
  const mirrors = createFakeMirrors(systemClock);
  const cluster = mirrors.join('bench');
  const life = new AbortController().signal;
  const { access, ...callers } = await callersOf(identities, { mirrors, cluster, signal: life });
  const mirror = cluster.mirror({ group: '', kind: 'Pod' });
  mirror.list(...Array.from({ length: pods }, (_, index) => podIn(index, { revision: 0, version: String(index + 1), stamp: '0' })));
  const shared = { mirrors, access, model: () => model, sealKey: new Uint8Array(32), sensitiveKinds: [] };
  const reads = createReads({ ...shared, member: () => undefined, clock: systemClock, log: silentLog });
  const streams = createStreams({ ...shared, settingsOf: () => undefined, clock: systemClock, log: silentLog }, life);
  const schema = buildGraph(model);
  const gateway = { version: '0.0.0', demo: false, readOnly: false, schemaHash: 'hash', schemaBuiltAtMs: 0 };
  const timeSlices = new TimeSliceScheduler(systemClock);
  const loadersOf = createLoaderFactory({ mirrors, clock: systemClock });
  const contextOf = ({ servedSchema: _, resources: held, isMessage, throwIfOver, ...asked }: OperationScope): BenchContext => {
    const budget = createBudget(throwIfOver);
    const loaders = held.use(loadersOf({ ...asked, isMessage }));
    const read = { ...asked, loaders, countReads: budget.countReads, timeSlices: timeSlices.createSlices(throwIfOver) };
    return { reads, streams, read, gateway, clock: systemClock, budget };
  };
  const { serving } = await startServing({ schema: () => schema, contextOf, ...callers });
  return { port: serving.port, change: changesOf(mirror.store, pods) };
}

/** Returns the access and the callers of the edge. */
async function callersOf(
  identities: number | undefined,
  { mirrors, cluster, signal }: { readonly mirrors: FakeMirrors; readonly cluster: FakeCluster; readonly signal: AbortSignal },
): Promise<{
  readonly access: Access;
  readonly caller?: Caller;
  readonly authenticator?: Authenticator;
  readonly prepare?: Access['prepare'];
}> {
  if (identities === undefined) {
    cluster.discover(servedAs(loadBaseline(), 'Pod'));
    return { access: createLocalAccess() };
  }
  const access = createBenchAccess(mirrors, systemClock, signal);
  engageReviewing(access, cluster, { rights: { teams: 1, namespacesEach: 1 }, signal });
  // The second check of the rights after the RBAC objects were listed.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const prepare: Access['prepare'] = (caller, until) => access.prepare(caller, until);
  const callers = Array.from({ length: identities }, (_, index) => benchCaller(`user-${index}`, 'all'));
  const [only] = callers;
  if (only !== undefined && identities === 1) return { access, prepare, caller: only };
  // An upgrade is identified before its `connection_init`, so the credential decides, and not the order of the calls.
  const identify: Authenticator['identify'] = ({ authorization }) => {
    const caller = callers[Number(authorization) % identities];
    if (caller === undefined) return unknownCaller('none', 'missing');
    return { result: 'known', session: { caller, expiresAtMs: undefined, check: undefined } };
  };
  return { access, prepare, authenticator: { identify } };
}

function changesOf(store: MirrorStore, pods: number): StreamingGateway['change'] {
  let next = 0;
  let version = 1_000_000;
  let revision = 0;
  return (count, stamp = '0') => {
    for (let n = 0; n < count; n += 1) {
      version += 1;
      if (next % pods === 0) revision += 1;
      const pod = podIn(next % pods, { revision, version: String(version), stamp });
      store.applied(pod, parseResourceVersion(String(version)), () => pod);
      next += 1;
    }
  };
}

/** Creates a pod as a mirror holds it, without managedFields. */
function podIn(
  index: number,
  { stamp, ...state }: { readonly revision: number; readonly version: string; readonly stamp: string },
): KubernetesObject {
  const { metadata, ...rest } = podOf(index, state) as KubernetesObject;
  const { managedFields: _, ...kept } = metadata;
  return { ...rest, metadata: { ...kept, labels: { ...metadata.labels, bench: stamp } } } as KubernetesObject;
}
