import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { apiVersionOf, keyOfKind } from '../../../core/kinds.ts';
import { itemsOf, type Stored } from '../../../core/stored.ts';
import type { Manifest, ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey } from '../../../manifests/object-key.ts';

/** The namespaces and kinds that a template itself creates. Before they exist, API servers cannot check objects that need them. */
export interface TemplateCreations {
  /** Names of Namespaces. */
  readonly namespaces: ReadonlySet<string>;
  /** Kinds that the template's CustomResourceDefinitions define, by `keyOfKind`. */
  readonly kinds: ReadonlyMap<string, CreatedKind>;
}

interface CreatedKind {
  readonly namespaced: boolean;
  /** The `apiVersion`s in which the kind is served. */
  readonly apiVersions: ReadonlySet<string>;
  /** The key of the CustomResourceDefinition. */
  readonly definition: ObjectKey;
}

/** Collects the namespaces and kinds that the manifests create. */
export function creationsOf(manifests: readonly Manifest[]): TemplateCreations {
  const namespaces = new Set<string>();
  const kinds = new Map<string, CreatedKind>();
  for (const manifest of manifests) {
    const { apiVersion, kind, metadata } = manifest;
    if (apiVersion === 'v1' && kind === 'Namespace') namespaces.add(metadata.name);
    if (keyOfKind(groupKindOfKey(manifest)) !== 'CustomResourceDefinition.apiextensions.k8s.io') continue;
    const { spec }: Stored<V1CustomResourceDefinition> = manifest;
    const group = spec?.group ?? '';
    const defined = spec?.names?.kind ?? '';
    const versions = itemsOf(spec?.versions).filter(({ served }) => served === true);
    kinds.set(keyOfKind({ group, kind: defined }), {
      namespaced: spec?.scope !== 'Cluster',
      apiVersions: new Set(versions.map(({ name }) => apiVersionOf({ group, version: name ?? '' }))),
      definition: { apiVersion, kind, name: metadata.name },
    });
  }
  return { namespaces, kinds };
}

/** Returns the kind of this key if the template itself defines it, by a CRD with that version. Undefined otherwise. */
export function createdKindOf({ kinds }: TemplateCreations, key: Pick<ObjectKey, 'apiVersion' | 'kind'>): CreatedKind | undefined {
  const made = kinds.get(keyOfKind(groupKindOfKey(key)));
  return made?.apiVersions.has(key.apiVersion) ? made : undefined;
}
