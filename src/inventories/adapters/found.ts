import type { ClusterFailure } from '../../cluster/cluster-failure.ts';
import type { Json } from '../../core/json.ts';
import { labelsAt, listAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { MemberSettings } from '../../fleet/member.ts';
import {
  type CheckedEndpoint,
  decodeBase64,
  endpointOrFailure,
  InvalidValueError,
  type LocatedValue,
} from '../endpoints/checked-endpoint.ts';
import { readKubeconfigEndpoint } from '../endpoints/kubeconfig-endpoint.ts';
import type { AdapterContext, FoundCluster, SecretData } from './inventory-adapter.ts';

// Helpers that several adapters share.

/**
 * Returns the cluster that the kubeconfig under `key` of the Secret describes. Returns no cluster if the Secret or the key does not exist. A
 * kubeconfig that cannot be used gives a cluster with a failure as its access.
 */
export function clusterOfKubeconfig(
  { object, key, settings }: { readonly object: KubernetesObject; readonly key: string; readonly settings?: Partial<MemberSettings> },
  data: SecretData | undefined,
  { allowPrivate }: AdapterContext,
): readonly FoundCluster[] {
  const kubeconfig = data?.get(key);
  if (kubeconfig === undefined) return [];
  const access = endpointOrFailure(() => readKubeconfigEndpoint(kubeconfig, allowPrivate));
  return [{ name: object.metadata.name, settings: { labels: ownLabelsOf(object), ...settings }, access }];
}

/** Returns the cluster with the access that `read` makes. If `read` throws a `InvalidValueError`, the cluster is found but cannot be used. */
export function foundCluster(
  { object, settings }: { readonly object: KubernetesObject; readonly settings?: Partial<MemberSettings> },
  read: () => CheckedEndpoint,
): FoundCluster {
  return { name: object.metadata.name, settings: { labels: ownLabelsOf(object), ...settings }, access: endpointOrFailure(read) };
}

/** Returns the labels of an object. */
export function ownLabelsOf(object: KubernetesObject): Readonly<Record<string, string>> {
  return labelsAt(object, 'metadata', 'labels');
}

/** Returns the text of a key of the Secret. Undefined if the key does not exist or is empty. `where` of the result is the key. */
export function optionalSecretText(data: SecretData, key: string): LocatedValue<string> | undefined {
  const text = Buffer.from(data.get(key) ?? [])
    .toString()
    .trim();
  return text === '' ? undefined : { value: text, where: key };
}

/** Returns the bytes of a key of the Secret. Undefined if the key does not exist or is empty. */
export function optionalSecretBytes(data: SecretData, key: string): LocatedValue<Uint8Array> | undefined {
  const bytes = data.get(key);
  return bytes === undefined || bytes.length === 0 ? undefined : { value: bytes, where: key };
}

/** Returns the text at a path of an object. Throws a `InvalidValueError` if there is none. */
export function demandText(object: Json, ...path: readonly string[]): LocatedValue<string> {
  const value = textAt(object, ...path);
  if (value === undefined || value === '') throw new InvalidValueError(path.join('.'), 'text');
  return { value, where: path.join('.') };
}

/** Returns the bytes of a base64 text. Undefined without a text. Throws a `InvalidValueError` if the text is no base64. */
export function optionalBase64(text: string | undefined, where: string): LocatedValue<Uint8Array> | undefined {
  return text === undefined || text === '' ? undefined : { value: decodeBase64({ value: text, where }), where };
}

/** Throws a `InvalidValueError` for a value that is set. False and an empty text count as not set. */
export function refuseValue(value: Json | undefined, where: string): void {
  if (value === undefined || value === null || value === false || value === '') return;
  throw new InvalidValueError(where, 'nothing here: Muster does not accept it');
}

/** Returns the taints in a list. Skips entries without a key or with an unknown effect. */
export function taintsAt(object: Json, ...path: readonly string[]): NonNullable<MemberSettings['taints']> {
  return listAt(object, ...path).flatMap((taint) => {
    const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
    if (key === undefined || key === '' || effect === undefined || !taintEffects.includes(effect)) return [];
    return [{ key, effect, ...(value === undefined || value === '' ? {} : { value }) }];
  });
}

const taintEffects: readonly string[] = ['NoSchedule', 'NoExecute', 'PreferNoSchedule'];

/** Returns the texts in a list. Skips empty texts and other values. */
export function textsAt(object: Json, ...path: readonly string[]): readonly string[] {
  return listAt(object, ...path).filter((text) => typeof text === 'string' && text !== '') as readonly string[];
}

/** True if the access is a failure, so the cluster cannot be reached with it. */
export function isFailure(access: CheckedEndpoint | ClusterFailure): access is ClusterFailure {
  return 'code' in access;
}
