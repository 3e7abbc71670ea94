import type { PatchObjectRequest } from '../../changes/object-client.ts';
import { mergePatchOf } from '../../core/json/merge-patch.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ResourceVersion } from '../../core/names.ts';
import type { OwnerReference } from '../../core/objects.ts';
import { type Hub, type HubKind, type HubObjectAnswer, type HubObjectName, requestOnHub } from './hub.ts';

/** New values of annotations. Null removes an annotation. */
export type AnnotationChange = Readonly<Record<string, string | null>>;

/** The parts of the metadata that writes need. The uid and the version guard the writes. */
interface WrittenMetadata extends HubObjectName {
  readonly uid: string;
  readonly version: ResourceVersion;
  readonly finalizers: readonly string[];
}

/** The members of a new resource. */
export interface ResourceCreation {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Default: no owners. */
  readonly owners?: readonly OwnerReference[] | undefined;
  readonly spec: JsonObject;
}

/**
 * Writes the resources of one of Muster's kinds on the hub. Each write is one request with the gateway's own account. A write gives
 * `conflict` if the version or the uid that guards it is another one by now.
 */
interface ResourceWrites {
  /** Creates a resource. Gives `conflict` if one of this name exists, and does not change that one. */
  create(objectName: HubObjectName, creation: ResourceCreation, signal: AbortSignal): Promise<HubObjectAnswer>;
  /** Applies a JSON patch. Guarded by the version. */
  replace(before: WrittenMetadata, patch: readonly JsonObject[], signal: AbortSignal): Promise<HubObjectAnswer>;
  /** Changes annotations. Guarded by the uid only. */
  annotate(before: WrittenMetadata, annotations: AnnotationChange, signal: AbortSignal): Promise<HubObjectAnswer>;
  /** Changes annotations. Guarded by the version. */
  annotateUnchanged(before: WrittenMetadata, annotations: AnnotationChange, signal: AbortSignal): Promise<HubObjectAnswer>;
  /** Writes the differences of two statuses. Guarded by the version. Sends no request if there are none. */
  patchStatus(
    before: WrittenMetadata,
    status: { readonly before: JsonObject; readonly after: JsonObject },
    signal: AbortSignal,
  ): Promise<HubObjectAnswer | 'unchanged'>;
  /** Adds or removes the finalizer of the kind. Guarded by the version. Sends no request if nothing changes. */
  setFinalizer(before: WrittenMetadata, state: 'present' | 'absent', signal: AbortSignal): Promise<HubObjectAnswer | 'unchanged'>;
  /**
   * Deletes a resource. Guarded by the uid. The resource exists until its finalizers are removed. Without finalizers, the result is
   * `absent`.
   */
  delete(before: WrittenMetadata, signal: AbortSignal): Promise<HubObjectAnswer>;
}

/** Creates the writes for one kind. `finalizer` is the finalizer that Muster adds to resources of the kind. */
export function createResourceWrites(hub: Hub, kind: HubKind, finalizer: string): ResourceWrites {
  const patch = (objectName: WrittenMetadata, body: Pick<PatchObjectRequest, 'type' | 'patch' | 'subresource'>, signal: AbortSignal) =>
    requestOnHub(hub, { kind, objectName }, (client, address) => client.patch({ ...address, ...body, run: 'real' }, signal));
  return {
    create: (objectName, creation, signal) =>
      requestOnHub(hub, { kind, objectName }, (client, address) =>
        client.apply(
          {
            ...address,
            manifest: manifestOf(kind, objectName, creation),
            preconditions: { resourceVersion: '1' },
            force: false,
            run: 'real',
          },
          signal,
        ),
      ),
    // Because the patch sets the version, the API server compares versions.
    replace: (before, operations, signal) =>
      patch(
        before,
        { type: 'json', patch: [{ op: 'add', path: '/metadata/resourceVersion', value: before.version }, ...operations] },
        signal,
      ),
    annotate: (before, annotations, signal) =>
      patch(before, { type: 'merge', patch: { metadata: { uid: before.uid, annotations } } }, signal),
    annotateUnchanged: (before, annotations, signal) =>
      patch(before, { type: 'merge', patch: { metadata: { ...guardOf(before), annotations } } }, signal),
    async patchStatus(before, status, signal) {
      const change = mergePatchOf(status.before, status.after);
      if (change === undefined) return 'unchanged';
      return patch(before, { type: 'merge', subresource: 'status', patch: { metadata: guardOf(before), status: change } }, signal);
    },
    async setFinalizer(before, state, signal) {
      const others = before.finalizers.filter((one) => one !== finalizer);
      const finalizers = state === 'present' ? [...others, finalizer] : others;
      if (finalizers.length === before.finalizers.length) return 'unchanged';
      return patch(before, { type: 'merge', patch: { metadata: { ...guardOf(before), finalizers } } }, signal);
    },
    async delete(before, signal) {
      const answer = await requestOnHub(hub, { kind, objectName: before }, (client, address) =>
        client.delete({ ...address, preconditions: { uid: before.uid }, cascade: 'Background', run: 'real' }, signal),
      );
      // If the object is gone at once, the API server answers with a Status, which has no version.
      const isGone = answer.result === 'written' && answer.object.metadata.resourceVersion === undefined;
      return isGone ? { result: 'absent' } : answer;
    },
  };
}

function guardOf({ uid, version }: WrittenMetadata): JsonObject {
  return { uid, resourceVersion: version };
}

function manifestOf({ apiVersion, kind }: HubKind, { namespace, name }: HubObjectName, creation: ResourceCreation) {
  const { labels, annotations, owners, spec } = creation;
  const metadata = { namespace, name, labels, annotations, ...(owners === undefined ? {} : { ownerReferences: owners }) };
  return { apiVersion, kind, metadata, spec };
}
