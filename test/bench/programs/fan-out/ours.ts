import { createLocalAccess } from '../../../../src/access/local-access.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import { silentLog } from '../../../../src/core/log.ts';
import { parseResourceVersion } from '../../../../src/core/names.ts';
import type { KubernetesObject } from '../../../../src/core/objects.ts';
import { TimeSliceScheduler } from '../../../../src/core/scheduling/operation-scheduler.ts';
import { createBudget } from '../../../../src/graph/context/budget.ts';
import type { GraphContext } from '../../../../src/graph/context/context.ts';
import { buildGraph } from '../../../../src/graph/graph.ts';
import { createReads } from '../../../../src/load/create-reads.ts';
import { createLoaderFactory } from '../../../../src/load/reads/operation-loaders.ts';
import type { OperationScope } from '../../../../src/operations/operation.ts';
import type { MirrorStore } from '../../../../src/store/mirror-store.ts';
import { createStreams } from '../../../../src/streams/views/create-streams.ts';
import { createFakeMirrors } from '../../../support/graph/fake-mirrors.ts';
import { loadBaseline, servedAs } from '../../../support/kubernetes-objects.ts';
import { startServing } from '../../../support/serving/start-serving.ts';
import { podOf } from '../../pods.ts';

/** The gateway's own parts from the store to the socket. Only the source of the objects belongs to the bench. */
export interface StreamingGateway {
  readonly port: number;
  /** Makes this number of changes in one turn, each to another pod, as a watch does. `stamp` becomes the label `bench`. */
  change(count: number, stamp?: string): void;
}

/** The part of the context that resolvers of a subscription without relations need. */
type BenchContext = Pick<GraphContext, 'reads' | 'streams' | 'read' | 'gateway' | 'clock' | 'budget'>;

/** Serves a mirror with this number of pods. */
export async function startStreaming(pods: number): Promise<StreamingGateway> {
  const model = loadBaseline();
  const mirrors = createFakeMirrors(systemClock);
  const cluster = mirrors.join('bench');
  cluster.discover(servedAs(model, 'Pod'));
  const mirror = cluster.mirror({ group: '', kind: 'Pod' });
  mirror.list(...Array.from({ length: pods }, (_, index) => podIn(index, { revision: 0, version: String(index + 1), stamp: '0' })));
  const shared = { mirrors, access: createLocalAccess(), model: () => model, sealKey: new Uint8Array(32), sensitiveKinds: [] };
  const reads = createReads({ ...shared, member: () => undefined, clock: systemClock, log: silentLog });
  const life = new AbortController().signal;
  const streams = createStreams({ ...shared, settingsOf: () => undefined, clock: systemClock, log: silentLog }, life);
  const schema = buildGraph(model);
  const gateway = { version: '0.0.0', demo: false, schemaHash: 'hash', schemaBuiltAtMs: 0 };
  const timeSlices = new TimeSliceScheduler(systemClock);
  const loadersOf = createLoaderFactory({ mirrors, clock: systemClock });
  const contextOf = ({ servedSchema: _, resources: held, isMessage, throwIfOver, ...asked }: OperationScope): BenchContext => {
    const budget = createBudget(throwIfOver);
    const loaders = held.use(loadersOf({ signal: asked.signal, isMessage }));
    const read = { ...asked, loaders, countReads: budget.countReads, timeSlices: timeSlices.createSlices(throwIfOver) };
    return { reads, streams, read, gateway, clock: systemClock, budget };
  };
  const { serving } = await startServing({ schema: () => schema, contextOf });
  return { port: serving.port, change: changesOf(mirror.store, pods) };
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
