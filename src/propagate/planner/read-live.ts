import type { Fault } from '../../core/faults.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { keyOfKind, type ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import { copyFault } from '../copies/copy-reason.ts';
import type { Note } from '../notes.ts';
import { keyOfManifest } from '../object-key.ts';
import { marks } from '../propagation.ts';
import { withoutMembers } from '../rendering/json-edits.ts';
import { prune } from '../rendering/prune.ts';
import type { Manifest, ObjectKey } from '../spec.ts';
import type { PlannerPorts, PlanRequest } from './planner.ts';
import type { MissingDependency, TemplateObject } from './snapshot.ts';

/** One object that is to be propagated, and the cluster where what it needs is looked for; none without a hub. */
export interface FoundTemplate {
  readonly type: 'found';
  readonly object: TemplateObject;
  readonly from: ClusterName | undefined;
}

/** One that is not to be had, and why. */
export interface MissingTemplate {
  readonly type: 'missing';
  readonly note: Note;
  readonly fault?: Fault;
  /** Of a dependency that is not there: copies of it are not taken away for that. */
  readonly dependency?: MissingDependency;
}

/** What a live read came to, as the actor. Messages name the object and the cluster. */
type LiveRead =
  | { readonly result: 'read'; readonly object: KubernetesObject; readonly key: ObjectKey; readonly resource: ServedResource }
  | { readonly result: 'absent'; readonly message: string }
  | { readonly result: 'failed'; readonly message: string; readonly fault: Fault };

/** Reads what is named, from the cluster itself. A key without namespace of a kind that stands in one is of the Propagation's own. */
export async function readLive(
  { members, clientOf }: PlannerPorts,
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
      return { result: 'failed', message: `${what} could not be read`, fault: answer.fault };
    default:
      return answer satisfies never;
  }
}

/**
 * The object as a template: pruned, without what kubectl and we keep there about who wrote it. Of a Secret nothing but its metadata and type, and where its
 * data are to be read.
 */
export function templateOf(
  { object, key, resource }: Extract<LiveRead, { readonly result: 'read' }>,
  cluster: ClusterName,
): Pick<TemplateObject, 'manifest' | 'secretOf' | 'sourceVersion' | 'source'> {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { namespace: _namespace, ...named } = withoutTraces(metadata);
  const at = { ...named, name: key.name, ...(resource.namespaced && key.namespace !== undefined ? { namespace: key.namespace } : {}) };
  const isSecret = keyOfKind(resource) === 'Secret';
  const manifest: Manifest = {
    apiVersion: key.apiVersion,
    kind: key.kind,
    metadata: at,
    ...(isSecret ? withoutMembers(rest, ['data', 'stringData']) : rest),
  };
  const source = { cluster, key: keyOfManifest(manifest), uid: metadata.uid, madeFrom: new Map<string, string>() };
  if (!isSecret) return { manifest: prune(manifest), source };
  const secretOf = { cluster, namespace: key.namespace ?? '', name: key.name };
  return {
    manifest: prune(manifest),
    source,
    secretOf,
    ...(metadata.resourceVersion === undefined ? {} : { sourceVersion: metadata.resourceVersion }),
  };
}

const ourLabels: readonly string[] = [marks.propagation];
const tracks: readonly string[] = ['kubectl.kubernetes.io/last-applied-configuration', marks.source, marks.generation, marks.intent];

/** Metadata without what kubectl and we keep there about who wrote the object: it is not of the object's meaning. */
function withoutTraces(metadata: JsonObject): JsonObject {
  const { labels, annotations, ...rest } = metadata;
  return { ...rest, ...filled('labels', labels, ourLabels), ...filled('annotations', annotations, tracks) };
}

function filled(name: string, map: JsonObject[string], without: readonly string[]): JsonObject {
  if (!isJsonObject(map)) return {};
  const left = withoutMembers(map, without);
  return Object.keys(left).length === 0 ? {} : { [name]: left };
}

/** That what stands at the path could not be read. */
export function missing(path: string, answer: Exclude<LiveRead, { readonly result: 'read' }>): MissingTemplate {
  return { type: 'missing', note: invalid(path, answer.message), ...(answer.result === 'failed' ? { fault: answer.fault } : {}) };
}

/** That the input is wrong at the path. */
export function invalid(path: string, message: string): Note {
  return { severity: 'ERROR', code: 'INVALID', message, path };
}
