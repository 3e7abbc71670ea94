import type { Fault } from '../../../core/faults.ts';
import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import { keyOfKind, type ServedResource } from '../../../core/kinds.ts';
import type { ClusterName } from '../../../core/names.ts';
import type { KubernetesObject } from '../../../core/objects.ts';
import { withoutMembers } from '../../../manifests/json-edits.ts';
import type { Manifest, ObjectKey } from '../../../manifests/manifest.ts';
import { keyOfManifest } from '../../../manifests/object-key.ts';
import { type PortableOptions, portableOf } from '../../../manifests/portable-object.ts';
import type { Note } from '../../model/notes.ts';
import { marks } from '../../model/propagation.ts';
import type { PropagationSpec } from '../../model/spec.ts';
import { copyFault } from '../copies/copy-reason.ts';
import type { PlannerPorts, PlanRequest } from './plan-request.ts';
import type { MissingDependency, TemplateObject } from './snapshot.ts';

/**
 * An object to propagate. Its dependencies are read from the cluster `from`: the cluster of the reference, or the hub for a manifest.
 * `from` is undefined for a manifest if there is no hub.
 */
export interface FoundTemplate {
  readonly type: 'found';
  readonly object: TemplateObject;
  readonly from: ClusterName | undefined;
}

/** A template or dependency that could not be read, and why. */
export interface MissingTemplate {
  readonly type: 'missing';
  readonly note: Note;
  readonly fault?: Fault;
  /** Set for a dependency that does not exist. Its existing copies stay. */
  readonly dependency?: MissingDependency;
}

/** The result of a live read with the identity of the intent. Messages name the object and the cluster. */
type LiveRead =
  | { readonly result: 'read'; readonly object: KubernetesObject; readonly key: ObjectKey; readonly resource: ServedResource }
  | { readonly result: 'absent'; readonly message: string }
  | { readonly result: 'failed'; readonly message: string; readonly fault: Fault };

/** Reads an object live from its cluster. For a namespaced kind, a key without a namespace means the namespace of the Propagation. */
export async function readLive(
  { members, clientOf, visibility }: PlannerPorts,
  { spec, signal, namespace }: PlanRequest,
  { cluster, key }: { readonly cluster: ClusterName; readonly key: ObjectKey },
): Promise<LiveRead> {
  const resource = members.objects.served(cluster, key);
  const client = clientOf(cluster, spec);
  const what = `${key.kind} ${key.name} in cluster ${cluster}`;
  if (resource === 'absent') return { result: 'absent', message: `cluster ${cluster} does not serve ${key.kind} in ${key.apiVersion}` };
  if (resource === undefined || client === undefined) {
    const [fault] = members.get(cluster)?.faults ?? [];
    const silent = copyFault(cluster, 'UNREACHABLE', 'the cluster has not answered yet');
    return { result: 'failed', message: `${what} could not be read`, fault: fault ?? silent };
  }
  const place = resource.namespaced ? (key.namespace ?? namespace) : undefined;
  const answer = await client.get({ resource, namespace: place, name: key.name }, signal);
  switch (answer.result) {
    case 'answered':
      return { result: 'read', object: answer.object, key: { ...key, ...(place === undefined ? {} : { namespace: place }) }, resource };
    case 'absent':
      return { result: 'absent', message: `there is no ${what}` };
    case 'failed':
      // Where requesters have rights of their own, a hidden object looks like an absent one.
      if (visibility !== undefined && answer.fault.code === 'FORBIDDEN') return { result: 'absent', message: `there is no ${what}` };
      return { result: 'failed', message: `${what} could not be read`, fault: answer.fault };
    default:
      return answer satisfies never;
  }
}

/** The properties of a resource that decide how an object becomes a template. */
type TemplateResource = Pick<ServedResource, 'group' | 'kind' | 'namespaced'>;

/**
 * Returns an object as a template: without the fields that a server fills in, and without the labels and annotations about its writer. Of a
 * Secret, only metadata and type remain, and `secretOf` refers to the Secret from which the data are read.
 */
export function templateOf(
  { object, key, resource }: { readonly object: KubernetesObject; readonly key: ObjectKey; readonly resource: TemplateResource },
  cluster: ClusterName,
  options: PortableOptions,
): Pick<TemplateObject, 'manifest' | 'secretOf' | 'sourceVersion' | 'source'> {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { namespace: _namespace, ...named } = withoutWriterNotes(metadata);
  const at = { ...named, name: key.name, ...(resource.namespaced && key.namespace !== undefined ? { namespace: key.namespace } : {}) };
  const isSecret = keyOfKind(resource) === 'Secret';
  const manifest: Manifest = {
    apiVersion: key.apiVersion,
    kind: key.kind,
    metadata: at,
    ...(isSecret ? withoutMembers(rest, ['data', 'stringData']) : rest),
  };
  const source = { cluster, key: keyOfManifest(manifest), uid: metadata.uid, madeFrom: new Map<string, string>() };
  if (!isSecret) return { manifest: portableOf(manifest, options), source };
  const secretOf = { cluster, namespace: key.namespace ?? '', name: key.name };
  return {
    manifest: portableOf(manifest, options),
    source,
    secretOf,
    ...(metadata.resourceVersion === undefined ? {} : { sourceVersion: metadata.resourceVersion }),
  };
}

const writerLabels: readonly string[] = [marks.propagation];
const writerAnnotations: readonly string[] = [
  'kubectl.kubernetes.io/last-applied-configuration',
  marks.source,
  marks.generation,
  marks.intent,
];

/** Removes the annotations and labels in which kubectl and Muster record who wrote the object. These are not content of the object. */
function withoutWriterNotes(metadata: JsonObject): JsonObject {
  const { labels, annotations, ...rest } = metadata;
  return { ...rest, ...mapWithout('labels', labels, writerLabels), ...mapWithout('annotations', annotations, writerAnnotations) };
}

function mapWithout(name: string, map: JsonObject[string], without: readonly string[]): JsonObject {
  if (!isJsonObject(map)) return {};
  const left = withoutMembers(map, without);
  return Object.keys(left).length === 0 ? {} : { [name]: left };
}

/** Returns the result for a template or dependency that could not be read. */
export function missingTemplate(path: string, answer: Exclude<LiveRead, { readonly result: 'read' }>): MissingTemplate {
  return { type: 'missing', note: invalidInputNote(path, answer.message), ...(answer.result === 'failed' ? { fault: answer.fault } : {}) };
}

/** Returns an error note for wrong input at the path. */
export function invalidInputNote(path: string, message: string): Note {
  return { severity: 'ERROR', code: 'INVALID', message, path };
}

/**
 * Returns the options for removing the fields that a server fills in. With the rules of Karmada, a ServiceAccount keeps every second one of
 * several token Secrets that follow each other.
 */
export function portableOptionsOf({ exact }: Pick<PropagationSpec, 'exact'>): PortableOptions {
  return exact?.system === 'Karmada' ? { keepsSecondToken: true } : {};
}
