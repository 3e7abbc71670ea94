import type { Fault } from '../../core/faults.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { OwnerReference } from '../../core/objects.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import { marks, type Propagation, type PropagationMetadata } from '../model/propagation.ts';
import type { PropagationName } from '../model/propagations.ts';
import type { SpecDocument } from '../model/spec.ts';
import { type PropagationStatus, printStatus } from '../model/status-definition.ts';
import { type Hub, type HubObjectAnswer, type HubRequestFailure, hubFault, hubKinds, reachHub, requestOnHub } from './hub.ts';
import { propagationOf } from './propagation-of.ts';
import { type AnnotationChange, createResourceWrites, type ResourceCreation } from './resource-writes.ts';

/** The result of reading one Propagation from the mirror. */
type PropagationRead =
  /**
   * The mirror has the Propagation. `asOfMs`: the time at which the mirror was last known to be current. `fault`: why the mirror is behind
   * the hub; undefined if it is in sync.
   */
  | { readonly result: 'held'; readonly propagation: Propagation; readonly asOfMs: number; readonly fault?: Fault | undefined }
  | Exclude<MirroredObject, { readonly result: 'held' }>;

/** The result of one write. */
export type PropagationWrite = { readonly result: 'written'; readonly propagation: Propagation } | HubRequestFailure;

/** The new values for a write of a spec. */
export interface SpecChange {
  readonly document: SpecDocument;
  /** The complete set of labels; others are removed. Default: the labels stay as they are. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Only these annotations change; the others stay. */
  readonly annotations?: AnnotationChange;
  /** The complete list of owners; others are removed. Default: the owners stay as they are. */
  readonly owners?: readonly OwnerReference[];
}

/**
 * Reads and writes the Propagations of the hub. Reads come from the mirror, except `fetch`. Each write is one request with the gateway's
 * own account.
 *
 * Writes are guarded by the version or the uid of the Propagation that is passed. A write under the version gives `conflict` if any client
 * has changed the Propagation since it was read. A write under the uid gives `conflict` only if the Propagation was deleted and created
 * again under the same name.
 */
export interface PropagationStore {
  /**
   * Returns why the hub cannot be used: it is not in the fleet, has not answered yet, or lacks Muster's kinds. Undefined if it can be used.
   */
  unavailability(): Fault | undefined;
  /** Reads one Propagation from the mirror, without waiting. */
  read(name: PropagationName): PropagationRead;
  /** Returns all Propagations in the mirror, in any order. Undefined while the mirror has no first list. */
  all(): readonly Propagation[] | undefined;
  /** Fetches one Propagation from the hub itself. */
  fetch(name: PropagationName, signal: AbortSignal): Promise<Propagation | 'absent' | { readonly fault: Fault }>;
  /**
   * Creates a Propagation. Gives `conflict` if a Propagation of this name exists, and does not change that one. The controller sees the new
   * Propagation in its mirror and carries it out (`controller/run-term.ts`).
   */
  create(name: PropagationName, change: SpecChange, signal: AbortSignal): Promise<PropagationWrite>;
  /** Replaces the spec. Guarded by the version. */
  update(before: Propagation, change: SpecChange, signal: AbortSignal): Promise<PropagationWrite>;
  /** Changes annotations. Guarded by the uid only, so that it never conflicts with writes of the controller. */
  annotate(before: Propagation, annotations: AnnotationChange, signal: AbortSignal): Promise<PropagationWrite>;
  /** Changes annotations. Guarded by the version, so that it never overwrites newer changes of other clients. */
  annotateUnchanged(before: Propagation, annotations: AnnotationChange, signal: AbortSignal): Promise<PropagationWrite>;
  /** Writes the differences between `before.status` and `status`. Guarded by the version. Sends no request if they are equal. */
  patchStatus(before: Propagation, status: PropagationStatus, signal: AbortSignal): Promise<PropagationWrite>;
  /** Adds or removes Muster's finalizer; other finalizers stay. Guarded by the version. Sends no request if nothing changes. */
  setFinalizer(before: Propagation, state: 'present' | 'absent', signal: AbortSignal): Promise<PropagationWrite>;
  /**
   * Deletes a Propagation. Guarded by the uid. The Propagation exists until its finalizers are removed. Without finalizers, the result is
   * `absent`.
   */
  delete(before: Propagation, signal: AbortSignal): Promise<PropagationWrite>;
}

/** Creates the store. Keeps the mirror of Propagations until the signal aborts. */
export function createPropagationStore(hub: Hub, signal: AbortSignal): PropagationStore {
  const { objects } = hub.members;
  const kind = hubKinds.propagation;
  objects.hold(hub.cluster, kind, signal);
  return {
    unavailability: () => problemOf(hub),
    read(objectName) {
      const mirrored = objects.read(hub.cluster, kind, objectName);
      if (mirrored.result !== 'held') return mirrored;
      const { object, ...read } = mirrored;
      return { ...read, propagation: propagationOf(object) };
    },
    all: () => objects.all(hub.cluster, kind)?.map(propagationOf),
    async fetch(objectName, until) {
      const answer = await requestOnHub(hub, { kind, objectName }, (client, address) => client.get(address, until));
      if (answer.result === 'written') return propagationOf(answer.object);
      if (answer.result === 'absent') return 'absent';
      return { fault: answer.result === 'failed' ? answer.fault : hubFault(hub, 'CONFLICT', 'expected an answer to a read') };
    },
    ...createWrites(hub),
  };
}

type PropagationWrites = Pick<
  PropagationStore,
  'create' | 'update' | 'annotate' | 'annotateUnchanged' | 'patchStatus' | 'setFinalizer' | 'delete'
>;

function createWrites(hub: Hub): PropagationWrites {
  const writes = createResourceWrites(hub, hubKinds.propagation, marks.finalizer);
  return {
    create: (objectName, change, signal) => propagationWriteOf(writes.create(objectName, creationOf(change), signal)),
    update: ({ metadata }, change, signal) => propagationWriteOf(writes.replace(metadata, replacementOf(metadata, change), signal)),
    annotate: ({ metadata }, annotations, signal) => propagationWriteOf(writes.annotate(metadata, annotations, signal)),
    annotateUnchanged: ({ metadata }, annotations, signal) => propagationWriteOf(writes.annotateUnchanged(metadata, annotations, signal)),
    async patchStatus(before, after, signal) {
      const answer = await writes.patchStatus(before.metadata, { before: printStatus(before.status), after: printStatus(after) }, signal);
      return answer === 'unchanged' ? { result: 'written', propagation: before } : propagationWriteOf(answer);
    },
    async setFinalizer(before, state, signal) {
      const answer = await writes.setFinalizer(before.metadata, state, signal);
      return answer === 'unchanged' ? { result: 'written', propagation: before } : propagationWriteOf(answer);
    },
    delete: async ({ metadata }, signal) => propagationWriteOf(await writes.delete(metadata, signal)),
  };
}

function problemOf(hub: Hub): Fault | undefined {
  for (const kind of [hubKinds.propagation, hubKinds.clusterShare]) {
    const reached = reachHub(hub, kind);
    if ('fault' in reached) return reached.fault;
  }
  return undefined;
}

async function propagationWriteOf(answer: HubObjectAnswer | Promise<HubObjectAnswer>): Promise<PropagationWrite> {
  const settled = await answer;
  return settled.result === 'written' ? { result: 'written', propagation: propagationOf(settled.object) } : settled;
}

function creationOf({ document, labels = {}, annotations = {}, owners }: SpecChange): ResourceCreation {
  return { labels, annotations: changedAnnotations({}, annotations), owners, spec: document };
}

/** Returns the JSON patch that replaces a spec. A merge patch could not remove fields that the new spec leaves out. */
function replacementOf(
  { annotations: before }: PropagationMetadata,
  { document, labels, annotations, owners }: SpecChange,
): readonly JsonObject[] {
  const set = (path: string, value: Json) => ({ op: 'add', path, value });
  return [
    set('/spec', document),
    ...(labels === undefined ? [] : [set('/metadata/labels', labels)]),
    ...(owners === undefined ? [] : [set('/metadata/ownerReferences', owners)]),
    ...(annotations === undefined ? [] : [set('/metadata/annotations', changedAnnotations(before, annotations))]),
  ];
}

function changedAnnotations(before: Readonly<Record<string, string>>, change: AnnotationChange): Readonly<Record<string, string>> {
  const after = Object.entries<string | null>({ ...before, ...change });
  return Object.fromEntries(after.filter((entry): entry is [string, string] => entry[1] !== null));
}
