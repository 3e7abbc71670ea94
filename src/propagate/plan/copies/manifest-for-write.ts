import { equalJson } from '../../../core/json/json-values.ts';
import type { JsonObject } from '../../../core/json.ts';
import { valueAt } from '../../../core/json-at.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import { withValueAt } from '../../../manifests/json-edits.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { kindTextOf } from '../../../manifests/pod-specs.ts';
import { portableOf } from '../../../manifests/portable-object.ts';
import type { Overriding } from '../../model/plan.ts';
import type { ExactSpec, WriteMode } from '../../model/spec.ts';
import { marksOf } from './copy-marks.ts';
import {
  type RecordPrefix,
  recordManagedAnnotations,
  recordManagedLabels,
  recordPrefixOf,
  withForeignKeys,
  withoutRecords,
} from './managed-keys.ts';
import { retainAsKubeFed } from './retain-as-kubefed.ts';
import { type RetainResult, retainFieldsOfKind } from './retain-fields.ts';

/** The manifest of a write, and whether it must be sent. */
export type ManifestForWrite =
  | { readonly result: 'write'; readonly manifest: Manifest }
  /** A replacement would change nothing, so no write is needed. */
  | { readonly result: 'unchanged'; readonly manifest: Manifest }
  | { readonly result: 'failed'; readonly path: string; readonly message: string };

interface ManifestForWriteRequest {
  readonly write: WriteMode;
  /** The manifest that was rendered for the cluster. */
  readonly desired: Manifest;
  /** The existing object. Absent if there is none. */
  readonly live?: KubernetesObject;
  /** `exact` of the spec. It decides the prefix of annotations that record managed labels. Undefined: `muster.dev`. */
  readonly exact?: ExactSpec | undefined;
  /**
   * Set if KubeFed's rules replace the copy. An existing object is then replaced by `overriding.base` with the fields of the member, and
   * the overrides on top; `desired` gives only marks and records. A new object is always `desired`. Undefined: `desired` is used always.
   */
  readonly overriding?: Overriding | undefined;
}

/**
 * Returns the manifest that a write sends (docs/internals/propagation.md 3.6).
 *
 * - `Apply`: the rendered manifest, with only the fields that Muster sets.
 * - `Replace`: the whole object, with a record of Muster's labels and annotations and with the fields that the member cluster owns. The
 *   result is `unchanged` if it equals the existing object, apart from fields that a server fills in.
 */
export function manifestForWrite(request: ManifestForWriteRequest): ManifestForWrite {
  const { write, desired } = request;
  switch (write) {
    case 'Apply':
      return { result: 'write', manifest: desired };
    case 'Replace':
      return replacement(request);
    default:
      return write satisfies never;
  }
}

/** Returns the manifest with the uid of the object. The API server then refuses to replace another object of the same name. */
export function withUid(manifest: Manifest, { metadata: { uid } }: KubernetesObject): Manifest {
  return uid === undefined ? manifest : { ...manifest, metadata: { ...manifest.metadata, uid } };
}

function replacement({ desired, live, exact, overriding }: ManifestForWriteRequest): ManifestForWrite {
  const prefix = recordPrefixOf(exact);
  const recorded = recordManagedAnnotations(recordManagedLabels(desired, prefix), prefix);
  if (live === undefined) return { result: 'write', manifest: recorded };
  const outcome =
    overriding === undefined
      ? withMemberFields(recorded, withOwnRecord(live, prefix), { kind: kindTextOf(desired), prefix })
      : retainAsKubeFed(recorded, live, { overriding, prefix });
  if (outcome.result === 'failed') return outcome;
  // Retaining changes neither the kind nor the name, so the result is still a manifest.
  const manifest = outcome.object as Manifest;
  const { apiVersion, kind } = desired;
  const unchanged = equalJson(portableOf(manifest), portableOf({ ...live, apiVersion, kind }));
  return { result: unchanged ? 'unchanged' : 'write', manifest };
}

/**
 * Returns the object without the records that Karmada itself wrote. They list the labels and annotations of Karmada, such as
 * `karmada.io/managed`, which must stay when Muster takes over the copy.
 */
function withOwnRecord(live: KubernetesObject, prefix: RecordPrefix): KubernetesObject {
  const isOfKarmada = prefix === 'resourcetemplate.karmada.io' && marksOf(live).propagation === undefined;
  return isOfKarmada ? withoutRecords(live) : live;
}

/** Returns `desired` with all fields of the live object that the member cluster owns. `kind` is the result of `kindTextOf`. */
export function withMemberFields(desired: JsonObject, live: JsonObject, { kind, prefix: records }: MemberFieldsOptions): RetainResult {
  const labelled = withForeignKeys(desired, live, { field: 'labels', prefix: records });
  const annotated = withForeignKeys(labelled, live, { field: 'annotations', prefix: records });
  const identified = ['resourceVersion', 'finalizers', 'ownerReferences'].reduce((object, field) => {
    const value = valueAt(live, 'metadata', field);
    return value === undefined ? object : withValueAt(object, ['metadata', field], value);
  }, annotated);
  return retainFieldsOfKind(kind, identified, live);
}

interface MemberFieldsOptions {
  readonly kind: string;
  readonly prefix: RecordPrefix;
}
