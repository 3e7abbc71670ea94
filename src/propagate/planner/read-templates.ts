import type { Fault } from '../../core/faults.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { ServedResource } from '../../core/kinds.ts';
import type { ClusterName } from '../../core/names.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { Note } from '../notes.ts';
import { keyOfManifest, kindOfKey, textOfKey } from '../object-key.ts';
import { marks } from '../propagation.ts';
import { dependenciesOf } from '../rendering/dependencies.ts';
import { withoutMembers } from '../rendering/json-edits.ts';
import { prune } from '../rendering/prune.ts';
import type { Manifest, ObjectKey, TemplateSource } from '../spec.ts';
import type { PlannerPorts, PlanRequest } from './planner.ts';
import type { TemplateObject } from './snapshot.ts';
import { madeKindOf, makesOf, type TemplateMakes } from './template-makes.ts';

/** What a template came to. With an error among the notes something is missing in `objects`. */
export interface ReadTemplates {
  readonly objects: readonly TemplateObject[];
  readonly notes: readonly Note[];
  readonly faults: readonly Fault[];
}

/** No more objects go to one cluster (propagation.md 2.1). */
const maxObjects = 200;

/**
 * The objects of a template, in its order, and after them by their keys what they depend on, if that is asked for.
 *
 * What is referred to, and dependencies, are read live as the actor: what he may not see enters no plan. Of a Secret nothing stays but its metadata and type.
 * Dependencies come from the cluster of the reference that needs them, those of written manifests from the hub. What the template has itself is not looked for.
 */
export async function readTemplates(ports: PlannerPorts, request: PlanRequest): Promise<ReadTemplates> {
  const { spec, signal } = request;
  const read = await Promise.all(spec.template.map((source, index) => readSource(ports, { source, index, request })));
  signal.throwIfAborted();
  const found = read.flatMap((result) => (result.type === 'found' ? [result] : []));
  const makes = makesOf(found.map(({ object }) => object.manifest));
  const own = found.map(({ object, from }) => ({
    from,
    object: { ...object, manifest: inPlace(ports, request, { manifest: object.manifest, makes }) },
  }));
  const problems = [
    ...read.flatMap((result) => (result.type === 'missing' ? [result] : [])),
    ...duplicatesIn(own.map(({ object }) => object)),
  ];
  const needed = spec.dependencies && problems.length === 0 ? await readDependencies(ports, request, own) : nothing;
  signal.throwIfAborted();
  const objects = [...own.map(({ object }) => object), ...needed.objects];
  const tooMany: readonly Note[] =
    objects.length > maxObjects
      ? [invalid('template', `expected at most ${maxObjects} objects with what they depend on, got ${objects.length}`)]
      : [];
  return {
    objects,
    notes: [...problems.map(({ note }) => note), ...needed.notes, ...tooMany],
    faults: [...problems.flatMap(({ fault }) => (fault === undefined ? [] : [fault])), ...needed.faults],
  };
}

const nothing: ReadTemplates = { objects: [], notes: [], faults: [] };

type Found = { readonly type: 'found'; readonly object: TemplateObject; readonly from: ClusterName | undefined };
type Missing = { readonly type: 'missing'; readonly note: Note; readonly fault?: Fault };

async function readSource(
  ports: PlannerPorts,
  { source, index, request }: { readonly source: TemplateSource; readonly index: number; readonly request: PlanRequest },
): Promise<Found | Missing> {
  const path = `template[${index}]`;
  switch (source.type) {
    case 'manifest':
      return { type: 'found', object: { manifest: prune(source.manifest), path }, from: ports.hub?.cluster };
    case 'ref': {
      const cluster = ports.members.get(source.cluster)?.name;
      if (cluster === undefined) {
        const note: Note = {
          severity: 'ERROR',
          code: 'UNKNOWN_CLUSTER',
          message: `expected a cluster of the fleet, got ${JSON.stringify(source.cluster)}`,
          path: `${path}.ref.cluster`,
        };
        return { type: 'missing', note };
      }
      const answer = await readLive(ports, request, { cluster, key: source.key });
      if (answer.result !== 'read') return missing(`${path}.ref`, answer);
      if (source.uid !== undefined && answer.object.metadata.uid !== source.uid) {
        return { type: 'missing', note: invalid(`${path}.ref.uid`, 'expected the object of that uid, got another one of its name') };
      }
      return { type: 'found', object: { ...templateOf(answer, cluster), path }, from: cluster };
    }
    default:
      return source satisfies never;
  }
}

type LiveRead =
  | { readonly result: 'read'; readonly object: KubernetesObject; readonly key: ObjectKey; readonly resource: ServedResource }
  | { readonly result: 'absent'; readonly message: string }
  | { readonly result: 'failed'; readonly message: string; readonly fault: Fault };

async function readLive(
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
    const silent: Fault = {
      code: 'UNREACHABLE',
      cluster,
      kind: kindOfKey(key),
      message: 'the cluster has not answered yet',
      retry: 'LATER',
    };
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

function templateOf(
  { object, key, resource }: Extract<LiveRead, { readonly result: 'read' }>,
  cluster: ClusterName,
): Pick<TemplateObject, 'manifest' | 'secretOf' | 'sourceVersion'> {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { namespace: _namespace, ...named } = withoutTraces(metadata);
  const at = { ...named, name: key.name, ...(resource.namespaced && key.namespace !== undefined ? { namespace: key.namespace } : {}) };
  const isSecret = resource.group === '' && resource.kind === 'Secret';
  const manifest: Manifest = {
    apiVersion: key.apiVersion,
    kind: key.kind,
    metadata: at,
    ...(isSecret ? withoutMembers(rest, ['data', 'stringData']) : rest),
  };
  if (!isSecret) return { manifest: prune(manifest) };
  const secretOf = { cluster, namespace: key.namespace ?? '', name: key.name };
  return {
    manifest: prune(manifest),
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

/** A kind that stands in namespaces and names none goes to the Propagation's own, as kubectl takes the current one. Others stand in none. */
function inPlace(
  { members }: PlannerPorts,
  { namespace }: PlanRequest,
  { manifest, makes }: { readonly manifest: Manifest; readonly makes: TemplateMakes },
): Manifest {
  const namespaced = madeKindOf(makes, manifest)?.namespaced ?? isNamespaced(members, manifest);
  // Nobody serves it: no cluster is chosen, and it stays as it was written.
  if (namespaced === undefined) return manifest;
  const { namespace: given, ...metadata } = manifest.metadata;
  if (!namespaced) return given === undefined ? manifest : { ...manifest, metadata: { ...metadata, name: manifest.metadata.name } };
  return given === undefined ? { ...manifest, metadata: { ...manifest.metadata, namespace } } : manifest;
}

function isNamespaced(members: PlannerPorts['members'], manifest: Manifest): boolean | undefined {
  for (const { name } of members.all()) {
    const served = members.objects.served(name, manifest);
    if (served !== undefined && served !== 'absent') return served.namespaced;
  }
  return undefined;
}

function duplicatesIn(objects: readonly TemplateObject[]): readonly Missing[] {
  const first = new Map<string, string>();
  return objects.flatMap(({ manifest, path }): readonly Missing[] => {
    const key = textOfKey(keyOfManifest(manifest));
    const other = first.get(key);
    first.set(key, other ?? path);
    return other === undefined ? [] : [{ type: 'missing', note: invalid(path, `expected each object once, got that of ${other} again`) }];
  });
}

interface Need {
  readonly key: ObjectKey;
  readonly from: ClusterName | undefined;
  readonly usedBy: readonly number[];
}

async function readDependencies(ports: PlannerPorts, request: PlanRequest, own: readonly Omit<Found, 'type'>[]): Promise<ReadTemplates> {
  const needs = needsOf(own);
  const read = await Promise.all(
    needs.map(async (need): Promise<Found | Missing> => {
      if (need.from === undefined)
        return {
          type: 'missing',
          note: invalid('dependencies', `${need.key.kind} ${need.key.name} is to be found on a hub, and there is none`),
        };
      const answer = await readLive(ports, request, { cluster: need.from, key: need.key });
      if (answer.result === 'absent') {
        const note: Note = { severity: 'WARNING', code: 'DEPENDENCY_MISSING', message: answer.message, path: 'dependencies' };
        return { type: 'missing', note };
      }
      if (answer.result === 'failed') return missing('dependencies', answer);
      return { type: 'found', object: { ...templateOf(answer, need.from), path: 'dependencies', usedBy: need.usedBy }, from: need.from };
    }),
  );
  const gone = read.flatMap((result) => (result.type === 'missing' ? [result] : []));
  return {
    objects: read.flatMap((result) => (result.type === 'found' ? [result.object] : [])),
    notes: gone.map(({ note }) => note),
    faults: gone.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
  };
}

/** By key; what several objects use once. */
function needsOf(own: readonly Omit<Found, 'type'>[]): readonly Need[] {
  const have = new Set(own.map(({ object }) => textOfKey(keyOfManifest(object.manifest))));
  const needs = new Map<string, Need>();
  own.forEach(({ object, from }, index) => {
    for (const key of dependenciesOf(object.manifest)) {
      const text = textOfKey(key);
      if (have.has(text)) continue;
      const known = needs.get(text);
      needs.set(text, known === undefined ? { key, from, usedBy: [index] } : { ...known, usedBy: [...known.usedBy, index] });
    }
  });
  return [...needs].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, need]) => need);
}

function missing(path: string, answer: Exclude<LiveRead, { readonly result: 'read' }>): Missing {
  return { type: 'missing', note: invalid(path, answer.message), ...(answer.result === 'failed' ? { fault: answer.fault } : {}) };
}

function invalid(path: string, message: string): Note {
  return { severity: 'ERROR', code: 'INVALID', message, path };
}
