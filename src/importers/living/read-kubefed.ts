import type { VersionedResource } from '../../cluster/served-resources.ts';
import type { JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import type { SensitiveKinds } from '../../core/sensitive-kinds.ts';
import type { ClusterReader, ListedObjects } from './cluster-reader.ts';
import type { ImportKind, ImportScope } from './import-scope.ts';
import { type LivingObject, type LivingObjects, membersOf } from './living-objects.ts';

/** The namespace of KubeFed's own objects. The charts and the documentation of KubeFed use this name. */
const ownNamespace = 'kube-federation-system';

/** A federated kind, and the kind of the objects that it propagates. */
interface FederatedKind {
  readonly kind: VersionedResource;
  readonly target: ImportKind;
}

/**
 * Reads a living KubeFed: its federated objects, preferences, FederatedTypeConfigs, KubeFedConfig and clusters.
 *
 * The federated kinds are those of the FederatedTypeConfigs. Without any, they are all kinds of the group `types.kubefed.io`.
 */
export async function readKubeFed(
  reader: ClusterReader,
  { scope, sensitiveKinds }: { readonly scope: ImportScope; readonly sensitiveKinds: SensitiveKinds },
): Promise<LivingObjects> {
  const core = await reader.kindsIn('core.kubefed.io');
  const [configs, clusters, own] = await Promise.all(
    ['FederatedTypeConfig', 'KubeFedCluster', 'KubeFedConfig'].map((name) =>
      listOwn(
        reader,
        core.find(({ kind }) => kind === name),
      ),
    ),
  );
  const typeConfigs = configs?.objects ?? [];
  const kinds = typeConfigs.length === 0 ? await kindsOfGroup(reader) : await configuredKinds(reader, typeConfigs);
  // FederatedNamespaces are read in any case, because they limit the placement of all objects in their namespace.
  const wanted = kinds.filter(({ target }) => scope.includes(target) || target.kind === 'Namespace');
  const lists = wanted.map(async ({ kind, target }): Promise<readonly LivingObject[]> => {
    if (scope.namespaces !== undefined && !kind.namespaced) return [];
    const isMetadataOnly = sensitiveKinds.has({ group: target.group ?? '', kind: target.kind });
    const { objects } = await reader.list({ kind, namespaces: scope.namespaces, isMetadataOnly });
    return objects.map((json) => ({ json, isContext: !scope.includes(target) }));
  });
  const [preferences, ...federated] = await Promise.all([listPreferences(reader, scope), ...lists]);
  return {
    objects: [...federated.flat(), ...preferences, ...[...typeConfigs, ...(own?.objects ?? [])].map((json) => ({ json, isContext: true }))],
    ...(clusters?.isComplete === true ? { members: membersOf(clusters.objects) } : {}),
  };
}

/** Lists objects that KubeFed keeps in its own namespace. Undefined if the cluster does not serve the kind. */
async function listOwn(reader: ClusterReader, kind: VersionedResource | undefined): Promise<ListedObjects | undefined> {
  return kind && (await reader.list({ kind, ownNamespace }));
}

async function kindsOfGroup(reader: ClusterReader): Promise<readonly FederatedKind[]> {
  const kinds = await reader.kindsIn('types.kubefed.io');
  return kinds.filter(({ kind }) => kind.startsWith('Federated')).map((kind) => ({ kind, target: { kind: targetNameOf(kind.kind) } }));
}

/** Returns the kinds of the FederatedTypeConfigs. A kind whose definition is gone has no objects, and is left out. */
async function configuredKinds(reader: ClusterReader, configs: readonly JsonObject[]): Promise<readonly FederatedKind[]> {
  const found = configs.map(async (config): Promise<readonly FederatedKind[]> => {
    const [federated, target] = ['federatedType', 'targetType'].map((type) => ({
      group: textAt(config, 'spec', type, 'group') ?? '',
      version: textAt(config, 'spec', type, 'version') ?? '',
      kind: textAt(config, 'spec', type, 'kind') ?? '',
    }));
    const kind = federated && (await reader.kindOf(apiVersionOf(federated), federated.kind));
    return kind === undefined || target === undefined ? [] : [{ kind, target }];
  });
  return (await Promise.all(found)).flat();
}

async function listPreferences(reader: ClusterReader, scope: ImportScope): Promise<readonly LivingObject[]> {
  const kinds = await reader.kindsIn('scheduling.kubefed.io');
  const kind = kinds.find((one) => one.kind === 'ReplicaSchedulingPreference');
  if (kind === undefined) return [];
  const { objects } = await reader.list({ kind, namespaces: scope.namespaces });
  const isWanted = (preference: JsonObject) => scope.includes({ kind: targetNameOf(textAt(preference, 'spec', 'targetKind') ?? '') });
  return objects.filter(isWanted).map((json) => ({ json }));
}

/** Returns `Deployment` for `FederatedDeployment`. */
function targetNameOf(federatedKind: string): string {
  return federatedKind.slice('Federated'.length);
}
