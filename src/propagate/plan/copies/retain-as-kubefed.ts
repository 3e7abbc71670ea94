import { valueAt } from '../../../core/json-at.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import { withValueAt } from '../../../manifests/json-edits.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { retainKubeFed } from '../../kubefed/retain-kubefed.ts';
import type { Overriding } from '../../model/plan.ts';
import { applyOverrides } from '../overrides/apply-overrides.ts';
import { kubeFedOverrideRules } from '../overrides/override-as-kubefed.ts';
import { withMarksOf } from './copy-marks.ts';
import { type RecordPrefix, withForeignKeys } from './managed-keys.ts';
import type { RetainResult } from './retain-fields.ts';

interface KubeFedReplacement {
  readonly overriding: Overriding;
  readonly prefix: RecordPrefix;
}

/**
 * Returns the manifest with which KubeFed replaces an existing object: the fields of the member cluster are copied first (`retainKubeFed`),
 * then the overrides are applied. Labels and owners of the member, the marks and the record of `desired` are added to the result.
 *
 * Fails if a field of the member has a wrong type, or if an override fails on the result.
 */
export function retainAsKubeFed(desired: Manifest, live: KubernetesObject, { overriding, prefix }: KubeFedReplacement): RetainResult {
  const { base, overrides, retainsReplicas } = overriding;
  const federated = { spec: { retainReplicas: retainsReplicas } };
  const retained = retainKubeFed({ kind: base.kind, desired: base, observed: live, federated });
  if (retained.result === 'failed') return retained;
  // Retaining changes neither the kind nor the name, so the result is still a manifest.
  const overridden = applyOverrides({ object: retained.object as Manifest, overrides, rules: kubeFedOverrideRules });
  if (overridden.result === 'failed') return overridden;
  const labelled = withForeignKeys(overridden.object, live, { field: 'labels', prefix });
  const owners = valueAt(live, 'metadata', 'ownerReferences');
  const owned = owners === undefined ? labelled : withValueAt(labelled, ['metadata', 'ownerReferences'], owners);
  return { result: 'retained', object: withMarksOf(owned, desired) };
}
