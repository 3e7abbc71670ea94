import type { Fault } from '../../../core/faults.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { keyOfManifest, textOfKey } from '../../../manifests/object-key.ts';
import { portableOf } from '../../../manifests/portable-object.ts';
import type { Note } from '../../model/notes.ts';
import type { TemplateOrigin } from '../../model/plan.ts';
import type { TemplateSource } from '../../model/template-definition.ts';
import type { PlannerPorts, PlanRequest } from './plan-request.ts';
import { type ReadDependencies, readDependencies } from './read-dependencies.ts';
import {
  type FoundTemplate,
  invalidInputNote,
  type MissingTemplate,
  missingTemplate,
  portableOptionsOf,
  readLive,
  templateOf,
} from './read-live.ts';
import type { MissingDependency, TemplateObject } from './snapshot.ts';
import { createdKindOf, creationsOf, type TemplateCreations } from './template-creations.ts';

/** The objects of a template. If `notes` contains an error, `objects` is incomplete. */
export interface ReadTemplates {
  readonly objects: readonly TemplateObject[];
  /** Dependencies that do not exist. */
  readonly missing: readonly MissingDependency[];
  readonly notes: readonly Note[];
  readonly faults: readonly Fault[];
  /** The cluster and key of every reference and dependency, whether or not the object exists. */
  readonly sources: readonly TemplateOrigin[];
}

/** Maximum number of objects for one cluster (docs/internals/propagation.md 2.1). */
const maxObjects = 200;

/**
 * Reads the objects of a template, in its order. Their dependencies follow by key, if the spec asks for them.
 *
 * References and dependencies are read live with the identity of the intent, so objects that it may not read never enter a plan. Of a
 * Secret, only metadata and type are kept. A dependency is read from the cluster of the reference that needs it, or from the hub if a
 * manifest needs it. Dependencies that the template contains itself are not read.
 */
export async function readTemplates(ports: PlannerPorts, request: PlanRequest): Promise<ReadTemplates> {
  const { spec, signal } = request;
  const read = await Promise.all(spec.template.map((source, index) => readSource(ports, { source, index, request })));
  signal.throwIfAborted();
  const found = read.filter((result) => result.type === 'found');
  const creations = creationsOf(found.map(({ object }) => object.manifest));
  const own = found.map(({ object, from }) => ({
    from,
    object: { ...object, manifest: withNamespace(ports, request, { manifest: object.manifest, creations }) },
  }));
  const absent = [...read.filter((result) => result.type === 'missing'), ...duplicatesIn(own.map(({ object }) => object))];
  const needed = spec.dependencies && absent.length === 0 ? await readDependencies(ports, request, own) : noDependencies;
  signal.throwIfAborted();
  const objects = [...own, ...needed.results.filter((result) => result.type === 'found')].map(({ object }) => object);
  const problems = [...absent, ...needed.results.filter((result) => result.type === 'missing')];
  return {
    objects,
    missing: problems.flatMap(({ dependency }) => dependency ?? []),
    notes: [...problems.map(({ note }) => note), ...tooMany(objects.length)],
    faults: problems.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
    sources: [...referencesIn(ports, request), ...needed.sources],
  };
}

const noDependencies: ReadDependencies = { results: [], sources: [] };

function referencesIn({ members }: PlannerPorts, { spec: { template }, namespace }: PlanRequest): readonly TemplateOrigin[] {
  return template.flatMap((source): readonly TemplateOrigin[] => {
    const cluster = source.type === 'ref' ? members.get(source.cluster)?.name : undefined;
    if (source.type !== 'ref' || cluster === undefined) return [];
    const served = members.objects.served(cluster, source.key);
    const isNamespaced = served !== undefined && served !== 'absent' && served.namespaced;
    return [{ cluster, key: isNamespaced ? { namespace, ...source.key } : source.key }];
  });
}

function tooMany(count: number): readonly Note[] {
  return count <= maxObjects
    ? []
    : [invalidInputNote('template', `expected at most ${maxObjects} objects including dependencies, got ${count}`)];
}

async function readSource(
  ports: PlannerPorts,
  { source, index, request }: { readonly source: TemplateSource; readonly index: number; readonly request: PlanRequest },
): Promise<FoundTemplate | MissingTemplate> {
  const path = `template[${index}]`;
  const options = portableOptionsOf(request.spec);
  switch (source.type) {
    case 'manifest':
      return { type: 'found', object: { manifest: portableOf(source.manifest, options), path }, from: ports.hub?.cluster };
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
      if (answer.result !== 'read') return missingTemplate(`${path}.ref`, answer);
      if (source.uid !== undefined && answer.object.metadata.uid !== source.uid) {
        return {
          type: 'missing',
          note: invalidInputNote(`${path}.ref.uid`, 'expected the object with this uid, got another object with its name'),
        };
      }
      return { type: 'found', object: { ...templateOf(answer, cluster, options), path }, from: cluster };
    }
    default:
      return source satisfies never;
  }
}

/**
 * Sets the namespace of a manifest. A namespaced object without a namespace gets that of the Propagation, like with kubectl's current
 * namespace. A cluster-scoped object loses its namespace.
 */
function withNamespace(
  { members }: PlannerPorts,
  { namespace }: PlanRequest,
  { manifest, creations }: { readonly manifest: Manifest; readonly creations: TemplateCreations },
): Manifest {
  const namespaced = createdKindOf(creations, manifest)?.namespaced ?? isNamespaced(members, manifest);
  // No cluster serves the kind, so no cluster will be chosen. The manifest stays unchanged.
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

function duplicatesIn(objects: readonly TemplateObject[]): readonly MissingTemplate[] {
  const first = new Map<string, string>();
  return objects.flatMap(({ manifest, path }): readonly MissingTemplate[] => {
    const key = textOfKey(keyOfManifest(manifest));
    const other = first.get(key);
    first.set(key, other ?? path);
    return other === undefined
      ? []
      : [{ type: 'missing', note: invalidInputNote(path, `expected each object once, got the object of ${other} again`) }];
  });
}
