import type { Manifest } from '../../manifests/manifest.ts';
import { policiesToApply } from '../../propagate/karmada/override-policies.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';
import type { ImportedOverridePolicy } from './policies/read-policies.ts';
import { type TranslatedOverrides, translateOverridePolicy } from './translate-overrides.ts';

/** An override policy that selects an object. */
export interface ChosenOverrides {
  readonly policy: ImportedOverridePolicy;
  readonly overrides: TranslatedOverrides;
}

/** Finds the override policies of objects. Each policy is translated once, when the first object needs it. */
export class OverrideFinder {
  /** The policies by their namespace. ClusterOverridePolicies have no namespace. */
  readonly #byNamespace: ReadonlyMap<string | undefined, readonly ImportedOverridePolicy[]>;
  readonly #clusters: ImportClusters;
  readonly #translated = new Map<ImportedOverridePolicy, TranslatedOverrides>();

  constructor(policies: readonly ImportedOverridePolicy[], clusters: ImportClusters) {
    this.#byNamespace = Map.groupBy(policies, ({ namespace }) => namespace);
    this.#clusters = clusters;
  }

  /**
   * Returns the policies that select the object, in the order in which Karmada applies them: ClusterOverridePolicies first, then those of the
   * namespace. Each kind is ordered by how specifically it selects the object, the most specific last, and then by name.
   */
  policiesFor(manifest: Manifest): readonly ChosenOverrides[] {
    const { namespace } = manifest.metadata;
    return [...this.#selecting(manifest, undefined), ...(namespace === undefined ? [] : this.#selecting(manifest, namespace))];
  }

  #selecting(manifest: Manifest, namespace: string | undefined): readonly ChosenOverrides[] {
    const policies = policiesToApply(this.#byNamespace.get(namespace) ?? [], manifest);
    return policies.map((policy) => ({ policy, overrides: this.#translate(policy) }));
  }

  #translate(policy: ImportedOverridePolicy): TranslatedOverrides {
    const known = this.#translated.get(policy);
    if (known !== undefined) return known;
    const overrides = translateOverridePolicy(policy, this.#clusters);
    this.#translated.set(policy, overrides);
    return overrides;
  }
}
