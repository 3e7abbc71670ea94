import { textAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import { isSourceObject, type ObjectDocument, type SourceDocument } from '../documents/source-documents.ts';

/** The documents of KubeFed in an input, by their kind. */
export interface FederationDocuments {
  /** Federated objects of all kinds except FederatedNamespace. */
  readonly federated: readonly ObjectDocument[];
  /** FederatedNamespaces. */
  readonly namespaces: readonly ObjectDocument[];
  /** ReplicaSchedulingPreferences. */
  readonly preferences: readonly ObjectDocument[];
  /** FederatedTypeConfigs. */
  readonly typeConfigs: readonly ObjectDocument[];
  /** The KubeFedConfig. Undefined: the input has none. */
  readonly config: ObjectDocument | undefined;
  /** Other objects of the API groups of KubeFed. */
  readonly others: readonly ObjectDocument[];
}

/** The API groups of KubeFed, and those of its earlier versions. */
const groupPattern = /^(types|scheduling|core|multiclusterdns)\.(kubefed\.io|kubefed\.k8s\.io|federation\.k8s\.io)$/;

/** Finds the documents of KubeFed. Federated kinds may be of any group that a FederatedTypeConfig of the input names. */
export function federationDocumentsIn(documents: readonly SourceDocument[]): FederationDocuments {
  const objects = documents.filter(isSourceObject);
  const ofGroup = (name: string): readonly ObjectDocument[] => objects.filter(({ key }) => kubeFedPartOf(key.apiVersion) === name);
  const core = ofGroup('core');
  const typeConfigs = core.filter(({ key }) => key.kind === 'FederatedTypeConfig');
  const customKinds = new Set(
    typeConfigs.map(
      ({ object }) => `${textAt(object, 'spec', 'federatedType', 'group') ?? ''}/${textAt(object, 'spec', 'federatedType', 'kind') ?? ''}`,
    ),
  );
  const isFederated = ({ key }: ObjectDocument): boolean =>
    (kubeFedPartOf(key.apiVersion) === 'types' && /^Federated./.test(key.kind)) ||
    customKinds.has(`${groupOfApiVersion(key.apiVersion)}/${key.kind}`);
  const federated = objects.filter(isFederated);
  const preferences = ofGroup('scheduling').filter(({ key }) => key.kind === 'ReplicaSchedulingPreference');
  const config = core.find(({ key }) => key.kind === 'KubeFedConfig');
  const known = new Set([...federated, ...preferences, ...typeConfigs, config]);
  return {
    federated: federated.filter(({ key }) => key.kind !== 'FederatedNamespace'),
    namespaces: federated.filter(({ key }) => key.kind === 'FederatedNamespace'),
    preferences,
    typeConfigs,
    config,
    others: objects.filter((one) => kubeFedPartOf(one.key.apiVersion) !== undefined && !known.has(one)),
  };
}

/** Returns the first part of an API group of KubeFed, such as `types`. Undefined for other groups. */
function kubeFedPartOf(apiVersion: string): string | undefined {
  return groupPattern.exec(groupOfApiVersion(apiVersion))?.[1];
}
