import type { ApplyObjectRequest, PatchObjectRequest } from '../../changes/object-client.ts';
import type { Fault } from '../../core/faults.ts';
import { mergePatchOf } from '../../core/json/merge-patch.ts';
import type { JsonObject } from '../../core/json.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import { marks, type Propagation } from '../model/propagation.ts';
import type { PropagationName } from '../model/propagations.ts';
import type { SpecDocument } from '../model/spec.ts';
import { type PropagationStatus, printStatus } from '../model/status-definition.ts';
import { type Hub, type HubObjectAnswer, type HubRequestFailure, hubFault, hubKinds, reachHub, requestOnHub } from './hub.ts';
import { propagationOf } from './propagation-of.ts';

/** What is known of one Propagation. */
type PropagationRead =
  /** `asOfMs`: up to when it is known to be true. */
  | { readonly result: 'held'; readonly propagation: Propagation; readonly asOfMs: number; readonly fault?: Fault | undefined }
  | Exclude<MirroredObject, { readonly result: 'held' }>;

/** What came of one write. */
export type PropagationWrite = { readonly result: 'written'; readonly propagation: Propagation } | HubRequestFailure;

/** What a write of the spec brings. */
export interface SpecChange {
  readonly document: SpecDocument;
  /** All of them: others go. Absent: they stay as they are. */
  readonly labels?: Readonly<Record<string, string>>;
  /** These alone; the others stay. */
  readonly annotations?: AnnotationChange;
}

/** Null removes one. */
export type AnnotationChange = Readonly<Record<string, string | null>>;

/**
 * The Propagations of the hub: read from the mirror, written one call at a time as the gateway's own account.
 *
 * Guards are of the Propagation that is passed. Under its version a write answers `conflict` if anybody wrote since it was read; under its uid only if it
 * is another one by now.
 */
export interface PropagationStore {
  /** Why the hub cannot hold what is ours: it is no member, has not answered, or lacks our kinds. Undefined if it can. */
  unavailability(): Fault | undefined;
  /** From the mirror, at once. */
  read(name: PropagationName): PropagationRead;
  /** From the mirror, at once, in no promised order; undefined while it is unread. */
  all(): readonly Propagation[] | undefined;
  /** From the hub itself. */
  fetch(name: PropagationName, signal: AbortSignal): Promise<Propagation | 'absent' | { readonly fault: Fault }>;
  /** `conflict` if there is one of that name, which is not touched. */
  create(name: PropagationName, change: SpecChange, signal: AbortSignal): Promise<PropagationWrite>;
  /** Replaces the spec, under the version. */
  update(before: Propagation, change: SpecChange, signal: AbortSignal): Promise<PropagationWrite>;
  /** Under the uid, so that it never meets the controller's writes. */
  annotate(before: Propagation, annotations: AnnotationChange, signal: AbortSignal): Promise<PropagationWrite>;
  /** As `annotate`, under the version: what others wrote meanwhile stays. */
  annotateUnchanged(before: Propagation, annotations: AnnotationChange, signal: AbortSignal): Promise<PropagationWrite>;
  /** Only what differs from the status it has, under the version. Without a call if nothing does. */
  patchStatus(before: Propagation, status: PropagationStatus, signal: AbortSignal): Promise<PropagationWrite>;
  /** Ours, under the version; those of others stay. Without a call if it is so already. */
  setFinalizer(before: Propagation, state: 'present' | 'absent', signal: AbortSignal): Promise<PropagationWrite>;
  /** Under the uid. It stays until its finalizers are gone; without any it is `absent` at once. */
  delete(before: Propagation, signal: AbortSignal): Promise<PropagationWrite>;
}

/** Keeps the mirror of Propagations until the signal aborts. */
export function createPropagationStore(hub: Hub, signal: AbortSignal): PropagationStore {
  const { objects } = hub.members;
  const kind = hubKinds.propagation;
  objects.hold(hub.cluster, kind, signal);
  return {
    unavailability: () => problemOf(hub),
    read(place) {
      const mirrored = objects.read(hub.cluster, kind, place);
      if (mirrored.result !== 'held') return mirrored;
      const { object, ...read } = mirrored;
      return { ...read, propagation: propagationOf(object) };
    },
    all: () => objects.all(hub.cluster, kind)?.map(propagationOf),
    async fetch(place, until) {
      const answer = await requestOnHub(hub, { kind, place }, (client, address) => client.get(address, until));
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
  const kind = hubKinds.propagation;
  const patch = ({ metadata: place }: Propagation, body: PatchBody, signal: AbortSignal) =>
    written(requestOnHub(hub, { kind, place }, (client, address) => client.patch({ ...address, ...body, run: 'real' }, signal)));
  return {
    create: (place, change, signal) =>
      written(requestOnHub(hub, { kind, place }, (client, address) => client.apply({ ...address, ...creationOf(place, change) }, signal))),
    update: (before, change, signal) => patch(before, { type: 'json', patch: replacementOf(before, change) }, signal),
    annotate: (before, annotations, signal) =>
      patch(before, { type: 'merge', patch: { metadata: { uid: before.metadata.uid, annotations } } }, signal),
    annotateUnchanged: (before, annotations, signal) =>
      patch(before, { type: 'merge', patch: { metadata: { ...guardOf(before), annotations } } }, signal),
    async patchStatus(before, after, signal) {
      const status = mergePatchOf(printStatus(before.status), printStatus(after));
      if (status === undefined) return { result: 'written', propagation: before };
      return patch(before, { type: 'merge', subresource: 'status', patch: { metadata: guardOf(before), status } }, signal);
    },
    async setFinalizer(before, state, signal) {
      const others = before.metadata.finalizers.filter((one) => one !== marks.finalizer);
      const finalizers = state === 'present' ? [...others, marks.finalizer] : others;
      if (finalizers.length === before.metadata.finalizers.length) return { result: 'written', propagation: before };
      return patch(before, { type: 'merge', patch: { metadata: { ...guardOf(before), finalizers } } }, signal);
    },
    async delete({ metadata }, signal) {
      const answer = await requestOnHub(hub, { kind, place: metadata }, (client, address) =>
        client.delete({ ...address, preconditions: { uid: metadata.uid }, cascade: 'Background', run: 'real' }, signal),
      );
      // What is gone at once has no version any more.
      const isGone = answer.result === 'written' && answer.object.metadata.resourceVersion === undefined;
      return isGone ? { result: 'absent' } : written(answer);
    },
  };
}

type PatchBody = Pick<PatchObjectRequest, 'type' | 'patch' | 'subresource'>;

function problemOf(hub: Hub): Fault | undefined {
  for (const kind of [hubKinds.propagation, hubKinds.clusterShare]) {
    const reached = reachHub(hub, kind);
    if ('fault' in reached) return reached.fault;
  }
  return undefined;
}

async function written(answer: HubObjectAnswer | Promise<HubObjectAnswer>): Promise<PropagationWrite> {
  const came = await answer;
  return came.result === 'written' ? { result: 'written', propagation: propagationOf(came.object) } : came;
}

function guardOf({ metadata }: Propagation): JsonObject {
  return { uid: metadata.uid, resourceVersion: metadata.version };
}

function creationOf(
  { namespace, name }: PropagationName,
  change: SpecChange,
): Pick<ApplyObjectRequest, 'manifest' | 'preconditions' | 'force' | 'run'> {
  const { apiVersion, kind } = hubKinds.propagation;
  const annotations = changedAnnotations({}, change.annotations ?? {});
  const metadata = { namespace, name, labels: change.labels ?? {}, annotations };
  const manifest = { apiVersion, kind, metadata, spec: change.document };
  return { manifest, preconditions: { resourceVersion: '1' }, force: false, run: 'real' };
}

/** A JSON patch, as a merge patch could not take away what the new spec leaves out. With a version in it the server compares versions. */
function replacementOf({ metadata }: Propagation, { document, labels, annotations }: SpecChange): readonly JsonObject[] {
  const set = (path: string, value: JsonObject | string) => ({ op: 'add', path, value });
  return [
    set('/metadata/resourceVersion', metadata.version),
    set('/spec', document),
    ...(labels === undefined ? [] : [set('/metadata/labels', labels)]),
    ...(annotations === undefined ? [] : [set('/metadata/annotations', changedAnnotations(metadata.annotations, annotations))]),
  ];
}

function changedAnnotations(before: Readonly<Record<string, string>>, change: AnnotationChange): Readonly<Record<string, string>> {
  const after = Object.entries<string | null>({ ...before, ...change });
  return Object.fromEntries(after.filter((entry): entry is [string, string] => entry[1] !== null));
}
