import { equalJson } from '../../core/json/json-values.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { valueAt } from '../../core/json-at.ts';
import { withoutValueAt, withValueAt } from '../../manifests/json-edits.ts';

/** The result of `retainKubeFed`. `path` names the field of a wrong type. */
export type KubeFedRetainResult =
  | { readonly result: 'retained'; readonly object: JsonObject }
  | { readonly result: 'failed'; readonly path: string; readonly message: string };

export interface KubeFedRetainRequest {
  /** The kind of the object, such as `Service`. */
  readonly kind: string;
  /** The object before the overrides of the cluster. In KubeFed, only overrides set annotations and finalizers. */
  readonly desired: JsonObject;
  /** The existing object of the cluster. */
  readonly observed: JsonObject;
  /** The federated object. Only its `spec.retainReplicas` is read. */
  readonly federated: JsonObject;
}

/**
 * KubeFed's RetainClusterFields: returns the object with the fields that the member cluster owns. Fails if one of these fields has a wrong
 * type.
 *
 * - Every kind: resourceVersion, finalizers and all annotations are those of the existing object.
 * - Service: clusterIP, clusterIPs, healthCheckNodePort, and the nodePort of ports with equal name, protocol and port.
 * - ServiceAccount: secrets, if the desired object has none.
 * - Other kinds: spec.replicas, if the federated object has `retainReplicas: true`.
 */
export function retainKubeFed({ kind, desired, observed, federated }: KubeFedRetainRequest): KubeFedRetainResult {
  const retained = ['resourceVersion', 'finalizers', 'annotations'].reduce((object, field) => {
    const value = valueAt(observed, 'metadata', field) ?? null;
    return value === null ? withoutValueAt(object, ['metadata', field]) : withValueAt(object, ['metadata', field], value);
  }, desired);
  try {
    return { result: 'retained', object: retainedFields(kind, retained, { observed, federated }) };
  } catch (error) {
    if (error instanceof WrongType) return { result: 'failed', path: error.path, message: error.message };
    throw error;
  }
}

class WrongType extends Error {
  readonly path: string;

  constructor(path: readonly string[], expected: string) {
    super(`expected ${expected}`);
    this.path = path.join('.');
  }
}

interface Sources {
  readonly observed: JsonObject;
  readonly federated: JsonObject;
}

function retainedFields(kind: string, desired: JsonObject, { observed, federated }: Sources): JsonObject {
  switch (kind) {
    case 'Service':
      return retainedService(desired, observed);
    case 'ServiceAccount': {
      // Like KubeFed, reads the existing secrets only if the desired object has none.
      if ((typedAt(desired, ['secrets'], lists) ?? []).length > 0) return desired;
      const secrets = typedAt(observed, ['secrets'], lists) ?? [];
      return secrets.length === 0 ? desired : withValueAt(desired, ['secrets'], secrets);
    }
    default: {
      if (typedAt(federated, ['spec', 'retainReplicas'], flags) !== true) return desired;
      const replicas = typedAt(observed, ['spec', 'replicas'], integers);
      return replicas === undefined ? desired : withValueAt(desired, ['spec', 'replicas'], replicas);
    }
  }
}

function retainedService(desired: JsonObject, observed: JsonObject): JsonObject {
  const port = typedAt(observed, ['spec', 'healthCheckNodePort'], integers) ?? 0;
  const address = typedAt(observed, ['spec', 'clusterIP'], texts) ?? '';
  const addresses = typedAt(observed, ['spec', 'clusterIPs'], textLists) ?? [];
  const ports = typedAt(observed, ['spec', 'ports'], lists);
  // Like KubeFed, reads the desired ports only if the existing object has ports.
  const wanted = ports === undefined ? [] : (typedAt(desired, ['spec', 'ports'], lists) ?? []);
  const kept: readonly (readonly [string, Json | undefined])[] = [
    ['healthCheckNodePort', port > 0 ? port : undefined],
    ['clusterIP', address === '' ? undefined : address],
    ['clusterIPs', addresses.length === 0 ? undefined : addresses],
    ['ports', ports === undefined || wanted.length === 0 ? undefined : wanted.map((one) => withNodePort(one, ports))],
  ];
  return kept.reduce((object, [field, value]) => (value === undefined ? object : withValueAt(object, ['spec', field], value)), desired);
}

/** Returns the port with the nodePort of the last existing port that has the same name, protocol and number. */
function withNodePort(wanted: Json, existing: readonly Json[]): Json {
  const isSame = (port: Json): boolean =>
    ['name', 'protocol', 'port'].every((field) => equalJson(valueAt(port, field), valueAt(wanted, field)));
  const nodePort = valueAt(existing.filter((port) => isSame(port) && valueAt(port, 'nodePort') !== undefined).at(-1), 'nodePort');
  return nodePort === undefined || !isJsonObject(wanted) ? wanted : { ...wanted, nodePort };
}

interface FieldType<T extends Json> {
  readonly expected: string;
  readonly accepts: (value: Json) => value is T;
}

const integers: FieldType<number> = { expected: 'an integer', accepts: (value): value is number => Number.isInteger(value) };
const texts: FieldType<string> = { expected: 'a text', accepts: (value) => typeof value === 'string' };
const flags: FieldType<boolean> = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' };
const lists: FieldType<readonly Json[]> = { expected: 'a list', accepts: (value) => Array.isArray(value) };
const textLists: FieldType<readonly string[]> = {
  expected: 'a list of texts',
  accepts: (value): value is readonly string[] => Array.isArray(value) && value.every((one) => typeof one === 'string'),
};

/** Returns the value of a field. Undefined if the field is absent or null. Throws if it has another type than expected. */
function typedAt<T extends Json>(object: JsonObject, path: readonly string[], { expected, accepts }: FieldType<T>): T | undefined {
  const value = valueAt(object, ...path) ?? null;
  if (value === null) return undefined;
  if (!accepts(value)) throw new WrongType(path, expected);
  return value;
}
