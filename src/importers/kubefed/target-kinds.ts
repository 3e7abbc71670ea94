import type { JsonObject } from '../../core/json.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import { servedVersionOf } from '../api-versions/served-versions.ts';
import { isClusterScopedKind } from '../documents/cluster-scoped-kinds.ts';
import type { ObjectDocument } from '../documents/source-documents.ts';

/** The kind of the objects that a federated kind makes. */
export interface TargetKind {
  readonly kind: string;
  /**
   * The API version of the kind. Undefined: neither Kubernetes nor a FederatedTypeConfig has the kind, so the template must name its
   * version.
   */
  readonly apiVersion: string | undefined;
  readonly isNamespaced: boolean;
  /** The FederatedTypeConfig of the kind. Undefined: the input has none. */
  readonly config?: ObjectDocument | undefined;
}

/**
 * Finds the target kind of a federated object in the FederatedTypeConfigs of the input. If they do not have it, the kind is the name of the
 * federated kind without `Federated`. A kind of Kubernetes then has the version that API servers serve today. An autoscaler with a field that
 * only `autoscaling/v1` has is of that version.
 */
export function targetKindOf({ key, object: federated }: ObjectDocument, typeConfigs: readonly ObjectDocument[]): TargetKind {
  const config = typeConfigs.find(
    ({ object }) =>
      textAt(object, 'spec', 'federatedType', 'kind') === key.kind &&
      key.apiVersion.startsWith(`${textAt(object, 'spec', 'federatedType', 'group') ?? 'types.kubefed.io'}/`),
  );
  const kind = textAt(config?.object, 'spec', 'targetType', 'kind') ?? key.kind.slice('Federated'.length);
  const version = textAt(config?.object, 'spec', 'targetType', 'version');
  const group = textAt(config?.object, 'spec', 'targetType', 'group') ?? '';
  const scope = textAt(config?.object, 'spec', 'targetType', 'scope');
  const apiVersion = version === undefined ? versionWithoutConfig(kind, federated) : apiVersionOf({ group, version });
  const isClusterScoped = scope === undefined ? apiVersion !== undefined && isClusterScopedKind({ apiVersion, kind }) : scope === 'Cluster';
  return { kind, apiVersion, isNamespaced: !isClusterScoped, config };
}

function versionWithoutConfig(kind: string, federated: JsonObject): string | undefined {
  // Only autoscaling/v1 has this field. `kubefedctl enable` used that version, because API servers preferred it then.
  const hasCpuPercentage = valueAt(federated, 'spec', 'template', 'spec', 'targetCPUUtilizationPercentage') !== undefined;
  return kind === 'HorizontalPodAutoscaler' && hasCpuPercentage ? 'autoscaling/v1' : servedVersionOf(kind);
}
