import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';

/** Fields that a server assigns. The field managers of a Service do not own them. */
const assigned = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'];

/** Sets the defaults of a Service. They belong to the author of the write. Other kinds are returned unchanged. */
export function withServiceDefaults(kind: SimKind, object: KubernetesObject): KubernetesObject {
  if (!isService(kind)) return object;
  const spec = objectAt(object.spec);
  const traffic: JsonObject = spec.type === 'ExternalName' ? {} : { internalTrafficPolicy: 'Cluster' };
  return { ...object, spec: { type: 'ClusterIP', sessionAffinity: 'None', ...traffic, ...spec } };
}

/**
 * Gives a Service its address: the one in the object, else the one that it had before, else a new one. A Service of the type `ExternalName`
 * loses the address that it had. Other kinds are returned unchanged.
 *
 * An API server does this in the create itself, so no client can read a Service without an address.
 */
export function withServiceAddress(
  kind: SimKind,
  { old, object, random }: { readonly old?: KubernetesObject; readonly object: KubernetesObject; readonly random: () => number },
): KubernetesObject {
  if (!isService(kind)) return object;
  const spec = objectAt(object.spec);
  if (spec.type === 'ExternalName') return { ...object, spec: withoutAssigned(spec) };
  const before = objectAt(old?.spec);
  const given = [spec, before].map((one) => textAt(one, 'clusterIP') ?? '').find((address) => address !== '');
  const clusterIP = given ?? `10.96.${Math.floor(random() * 256)}.${1 + Math.floor(random() * 254)}`;
  const families = { ipFamilies: before.ipFamilies ?? ['IPv4'], ipFamilyPolicy: before.ipFamilyPolicy ?? 'SingleStack' };
  const status = { loadBalancer: {}, ...(isJsonObject(object.status) ? object.status : {}) };
  return { ...object, spec: { ...families, ...spec, clusterIP, clusterIPs: spec.clusterIPs ?? [clusterIP] }, status };
}

function withoutAssigned(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !assigned.includes(key)));
}

function isService({ source, group, kind }: SimKind): boolean {
  return source === 'builtIn' && group === '' && kind === 'Service';
}
