import { equalJson } from '../../../core/json/json-values.ts';
import type { JsonObject } from '../../../core/json.ts';
import { valueAt } from '../../../core/json-at.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import { withValueAt } from '../../../manifests/json-edits.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { kindTextOf } from '../../../manifests/pod-specs.ts';
import { portableOf } from '../../../manifests/prune.ts';
import type { WriteMode } from '../../model/spec.ts';
import { type RecordPrefix, recordManagedAnnotations, recordManagedLabels, retainKeys } from './managed-keys.ts';
import { type Retained, retainOfKind } from './retain.ts';

/** What is sent of an object. */
export type Owned =
  | { readonly result: 'write'; readonly manifest: Manifest }
  /** Replacing would change nothing: no write. */
  | { readonly result: 'unchanged'; readonly manifest: Manifest }
  | { readonly result: 'failed'; readonly path: string; readonly message: string };

interface OwnRequest {
  readonly write: WriteMode;
  /** Rendered for the cluster. */
  readonly desired: Manifest;
  /** As it stands there. Absent: nothing does. */
  readonly live?: KubernetesObject;
}

/**
 * What a write sends (docs/internals/propagation.md 3.6). `Apply`: only what we set, the object itself. `Replace`: the whole object, with our labels and annotations
 * recorded, and with what the member owns copied in; it is `unchanged` if it equals what stands there without what a server fills in.
 */
export function own({ write, desired, live }: OwnRequest): Owned {
  switch (write) {
    case 'Apply':
      return { result: 'write', manifest: desired };
    case 'Replace':
      return replacement(desired, live);
    default:
      return write satisfies never;
  }
}

/** The replacement of that very object: a server refuses it for another one of its name. */
export function withUid(manifest: Manifest, { metadata: { uid } }: KubernetesObject): Manifest {
  return uid === undefined ? manifest : { ...manifest, metadata: { ...manifest.metadata, uid } };
}

const prefix: RecordPrefix = 'muster.dev';

function replacement(desired: Manifest, live: KubernetesObject | undefined): Owned {
  const recorded = recordManagedAnnotations(recordManagedLabels(desired, prefix), prefix);
  if (live === undefined) return { result: 'write', manifest: recorded };
  const outcome = retain(recorded, live, { kind: kindTextOf(desired), prefix });
  if (outcome.result === 'failed') return outcome;
  // Retaining changes neither what the object is nor what it is called.
  const manifest = outcome.object as Manifest;
  const { apiVersion, kind } = desired;
  const unchanged = equalJson(portableOf(manifest), portableOf({ ...live, apiVersion, kind }));
  return { result: unchanged ? 'unchanged' : 'write', manifest };
}

/** What may be sent in place of the live object: `desired` with all that the member owns. `kind` as `kindTextOf` gives it. */
export function retain(desired: JsonObject, live: JsonObject, { kind, prefix: records }: RetainOptions): Retained {
  const labelled = retainKeys(desired, live, { field: 'labels', prefix: records });
  const annotated = retainKeys(labelled, live, { field: 'annotations', prefix: records });
  const identified = ['resourceVersion', 'finalizers', 'ownerReferences'].reduce((object, field) => {
    const value = valueAt(live, 'metadata', field);
    return value === undefined ? object : withValueAt(object, ['metadata', field], value);
  }, annotated);
  return retainOfKind(kind, identified, live);
}

interface RetainOptions {
  readonly kind: string;
  readonly prefix: RecordPrefix;
}
