import type { V1Container, V1Ingress, V1StatefulSet, V1Volume } from '@kubernetes/client-node';
import { itemsOf, type Stored, textOrUndefined } from '../../../core/stored.ts';
import type { Manifest, ObjectKey } from '../../../manifests/manifest.ts';
import { keyOfManifest, textOfKey } from '../../../manifests/object-key.ts';
import { kindTextOf, podSpecOf } from '../../../manifests/pod-specs.ts';

/** Needed objects that are identified by their labels instead of a name: those with all of these labels. */
interface LabelledDependency extends Omit<ObjectKey, 'name'> {
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Returns the objects that an object needs in its cluster (docs/internals/propagation.md 3.7). Each once, in the order of `textOfKey`, all
 * in the namespace of the object. References that are marked as optional are included.
 *
 * - Pod specs: ConfigMaps, Secrets, PersistentVolumeClaims and the ServiceAccount.
 * - Ingress: TLS Secrets.
 * - ServiceImport: the Service from which it is derived.
 */
export function dependenciesOf(object: Manifest): readonly ObjectKey[] {
  const { namespace } = keyOfManifest(object);
  const needed = new Map<string, ObjectKey>();
  for (const { kind, name } of [...podNeeds(object), ...ingressNeeds(object), ...importNeeds(object)]) {
    if (typeof name !== 'string' || name === '') continue;
    const key: ObjectKey = { apiVersion: 'v1', kind, ...(namespace === undefined ? {} : { namespace }), name };
    needed.set(textOfKey(key), key);
  }
  return [...needed].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

/** Returns the objects that an object needs without naming them: the EndpointSlices of the derived Service of a ServiceImport. */
export function labelledDependenciesOf(object: Manifest): readonly LabelledDependency[] {
  const { namespace } = keyOfManifest(object);
  return importNeeds(object).map(({ name }) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    ...(namespace === undefined ? {} : { namespace }),
    labels: { 'kubernetes.io/service-name': name },
  }));
}

/** A needed object. `name` is undefined if the field with the reference is not set. */
interface NeededObject {
  readonly kind: 'ConfigMap' | 'Secret' | 'ServiceAccount' | 'PersistentVolumeClaim' | 'Service';
  readonly name: string | undefined;
}

function podNeeds(object: Manifest): readonly NeededObject[] {
  const spec = podSpecOf(object);
  if (spec === undefined) return [];
  const account = textOrUndefined(spec.serviceAccountName) ?? textOrUndefined(spec.serviceAccount);
  const volumes = itemsOf(spec.volumes).filter((volume) => !claimsItself(object, volume));
  return [
    ...volumes.flatMap(volumeNeeds),
    ...[...itemsOf(spec.initContainers), ...itemsOf(spec.containers)].flatMap(containerNeeds),
    ...itemsOf(spec.imagePullSecrets).map(({ name }): NeededObject => ({ kind: 'Secret', name })),
    ...(account === 'default' ? [] : [{ kind: 'ServiceAccount', name: account } as const]),
  ];
}

/**
 * True if a StatefulSet creates the claim of this volume from one of its claim templates. That is the case if the volume has the name of a
 * template: the template then replaces the volume. It is also the case if the claim in the volume has the name of a template.
 */
function claimsItself(object: Manifest, { name, persistentVolumeClaim }: Stored<V1Volume>): boolean {
  if (kindTextOf(object) !== 'StatefulSet.apps') return false;
  const { spec }: Stored<V1StatefulSet> = object;
  return itemsOf(spec?.volumeClaimTemplates).some(({ metadata }) => {
    const made = metadata?.name;
    return made !== undefined && (made === name || made === persistentVolumeClaim?.claimName);
  });
}

function volumeNeeds(volume: Stored<V1Volume>): readonly NeededObject[] {
  const secrets = [
    volume.secret?.secretName,
    volume.azureFile?.secretName,
    volume.cephfs?.secretRef?.name,
    volume.cinder?.secretRef?.name,
    volume.flexVolume?.secretRef?.name,
    volume.iscsi?.secretRef?.name,
    volume.rbd?.secretRef?.name,
    volume.scaleIO?.secretRef?.name,
    volume.storageos?.secretRef?.name,
    volume.csi?.nodePublishSecretRef?.name,
  ];
  return [
    ...secrets.map((name): NeededObject => ({ kind: 'Secret', name })),
    { kind: 'ConfigMap', name: volume.configMap?.name },
    { kind: 'PersistentVolumeClaim', name: volume.persistentVolumeClaim?.claimName },
    ...itemsOf(volume.projected?.sources).flatMap(({ secret, configMap }): readonly NeededObject[] => [
      { kind: 'Secret', name: secret?.name },
      { kind: 'ConfigMap', name: configMap?.name },
    ]),
  ];
}

function containerNeeds({ env, envFrom }: Stored<V1Container>): readonly NeededObject[] {
  return [
    ...itemsOf(env).flatMap(({ valueFrom }): readonly NeededObject[] => [
      { kind: 'ConfigMap', name: valueFrom?.configMapKeyRef?.name },
      { kind: 'Secret', name: valueFrom?.secretKeyRef?.name },
    ]),
    ...itemsOf(envFrom).flatMap(({ configMapRef, secretRef }): readonly NeededObject[] => [
      { kind: 'ConfigMap', name: configMapRef?.name },
      { kind: 'Secret', name: secretRef?.name },
    ]),
  ];
}

function ingressNeeds(object: Manifest): readonly NeededObject[] {
  if (kindTextOf(object) !== 'Ingress.networking.k8s.io') return [];
  const { spec }: Stored<V1Ingress> = object;
  return itemsOf(spec?.tls).map(({ secretName }): NeededObject => ({ kind: 'Secret', name: secretName }));
}

function importNeeds(object: Manifest): readonly { readonly kind: 'Service'; readonly name: string }[] {
  if (kindTextOf(object) !== 'ServiceImport.multicluster.x-k8s.io') return [];
  return [{ kind: 'Service', name: `derived-${object.metadata.name}` }];
}
