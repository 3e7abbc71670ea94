import type { Json, JsonObject } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { keyOfManifest, textOfKey } from '../object-key.ts';
import type { Manifest, ObjectKey } from '../spec.ts';
import { containersOf, groupKindOf, podSpecPathOf } from './pod-specs.ts';

/** Objects that are needed whatever they are called: those with all of these labels. */
interface LabelledDependency extends Omit<ObjectKey, 'name'> {
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The objects that an object needs where it runs (propagation.md 3.7), each once, in the order of `textOfKey`: what a pod spec takes its files, its
 * variables, its identity and its images from; TLS secrets of an Ingress; the Service that a ServiceImport stands for. Optional ones too. All in its
 * own namespace.
 */
export function dependenciesOf(object: Manifest): readonly ObjectKey[] {
  const { namespace } = keyOfManifest(object);
  const needed = new Map<string, ObjectKey>();
  for (const { kind, name } of [...podNeeds(object), ...ingressNeeds(object), ...importNeeds(object)]) {
    if (name === undefined || name === '') continue;
    const key: ObjectKey = { apiVersion: 'v1', kind, ...(namespace === undefined ? {} : { namespace }), name };
    needed.set(textOfKey(key), key);
  }
  return [...needed].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

/** The objects that an object needs and does not name: the EndpointSlices of the Service that a ServiceImport stands for. */
export function labelledDependenciesOf(object: Manifest): readonly LabelledDependency[] {
  const { namespace } = keyOfManifest(object);
  return importNeeds(object).map(({ name }) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    ...(namespace === undefined ? {} : { namespace }),
    labels: { 'kubernetes.io/service-name': name },
  }));
}

/** What is named, in whatever way. */
interface Need {
  readonly kind: 'ConfigMap' | 'Secret' | 'ServiceAccount' | 'PersistentVolumeClaim' | 'Service';
  readonly name: string | undefined;
}

function podNeeds(object: Manifest): readonly Need[] {
  const path = podSpecPathOf(object);
  const spec = path === undefined ? undefined : valueAt(object, ...path);
  if (spec === undefined) return [];
  const account = textAt(spec, 'serviceAccountName') ?? textAt(spec, 'serviceAccount');
  return [
    ...listAt(spec, 'volumes')
      .filter((volume) => !claimsItself(object, volume))
      .flatMap(volumeNeeds),
    ...containersOf(object, 'All').flatMap(({ container }) => containerNeeds(container)),
    ...listAt(spec, 'imagePullSecrets').map((secret): Need => ({ kind: 'Secret', name: textAt(secret, 'name') })),
    ...(account === 'default' ? [] : [{ kind: 'ServiceAccount', name: account } as const]),
  ];
}

/**
 * True for a volume that a StatefulSet fills with a claim of its own. The claims of its templates replace volumes of the same names. A volume that names a
 * template as its claim is a placeholder for it.
 */
function claimsItself(object: JsonObject, volume: Json): boolean {
  const templates = groupKindOf(object) === 'StatefulSet.apps' ? listAt(object, 'spec', 'volumeClaimTemplates') : [];
  const names = [textAt(volume, 'name'), textAt(volume, 'persistentVolumeClaim', 'claimName')];
  return templates.some((template) => {
    const name = textAt(template, 'metadata', 'name');
    return name !== undefined && names.includes(name);
  });
}

/** Where the types of volumes name their secrets. */
const secretPaths: readonly (readonly string[])[] = [
  ['secret', 'secretName'],
  ['azureFile', 'secretName'],
  ['cephfs', 'secretRef', 'name'],
  ['cinder', 'secretRef', 'name'],
  ['flexVolume', 'secretRef', 'name'],
  ['iscsi', 'secretRef', 'name'],
  ['rbd', 'secretRef', 'name'],
  ['scaleIO', 'secretRef', 'name'],
  ['storageos', 'secretRef', 'name'],
  ['csi', 'nodePublishSecretRef', 'name'],
];

function volumeNeeds(volume: Json): readonly Need[] {
  return [
    ...secretPaths.map((path): Need => ({ kind: 'Secret', name: textAt(volume, ...path) })),
    { kind: 'ConfigMap', name: textAt(volume, 'configMap', 'name') },
    { kind: 'PersistentVolumeClaim', name: textAt(volume, 'persistentVolumeClaim', 'claimName') },
    ...listAt(volume, 'projected', 'sources').flatMap((source): readonly Need[] => [
      { kind: 'Secret', name: textAt(source, 'secret', 'name') },
      { kind: 'ConfigMap', name: textAt(source, 'configMap', 'name') },
    ]),
  ];
}

function containerNeeds(container: Json): readonly Need[] {
  return [
    ...listAt(container, 'env').flatMap((variable): readonly Need[] => [
      { kind: 'ConfigMap', name: textAt(variable, 'valueFrom', 'configMapKeyRef', 'name') },
      { kind: 'Secret', name: textAt(variable, 'valueFrom', 'secretKeyRef', 'name') },
    ]),
    ...listAt(container, 'envFrom').flatMap((source): readonly Need[] => [
      { kind: 'ConfigMap', name: textAt(source, 'configMapRef', 'name') },
      { kind: 'Secret', name: textAt(source, 'secretRef', 'name') },
    ]),
  ];
}

function ingressNeeds(object: Manifest): readonly Need[] {
  if (groupKindOf(object) !== 'Ingress.networking.k8s.io') return [];
  return listAt(object, 'spec', 'tls').map((tls): Need => ({ kind: 'Secret', name: textAt(tls, 'secretName') }));
}

function importNeeds(object: Manifest): readonly { readonly kind: 'Service'; readonly name: string }[] {
  if (groupKindOf(object) !== 'ServiceImport.multicluster.x-k8s.io') return [];
  return [{ kind: 'Service', name: `derived-${object.metadata.name}` }];
}
