import type { ClusterName } from '../../../core/names.ts';
import type { Manifest, ObjectKey } from '../../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, textOfKey } from '../../../manifests/object-key.ts';
import type { Note } from '../../model/notes.ts';
import type { TemplateOrigin } from '../../model/plan.ts';
import { dependenciesOf, labelledDependenciesOf } from './dependencies.ts';
import type { PlannerPorts, PlanRequest } from './plan-request.ts';
import {
  type FoundTemplate,
  invalidInputNote,
  type MissingTemplate,
  missingTemplate,
  portableOptionsOf,
  readLive,
  templateOf,
} from './read-live.ts';

/** Maximum wait for mirrors that were never read before. */
export const maxMirrorWaitMs = 10_000;

/** A dependency, the cluster from which it is read, and the indexes of the objects that need it. */
interface NeededObject {
  readonly key: ObjectKey;
  readonly from: ClusterName | undefined;
  readonly usedBy: readonly number[];
}

/** The result of reading dependencies, sorted by key. */
export interface ReadDependencies {
  readonly results: readonly (FoundTemplate | MissingTemplate)[];
  /** The cluster and key of every dependency that was read from a cluster, whether or not the object exists. */
  readonly sources: readonly TemplateOrigin[];
}

/**
 * Reads the dependencies of a template that the template itself does not contain, sorted by key. Each is read live, with the identity of
 * the intent, from the cluster of the object that needs it. A dependency with several users is read once, from the cluster of the first
 * user.
 */
export async function readDependencies(
  ports: PlannerPorts,
  request: PlanRequest,
  own: readonly Omit<FoundTemplate, 'type'>[],
): Promise<ReadDependencies> {
  const labelled = await Promise.all(own.map(({ object, from }) => labelledNeeds(ports, request, { manifest: object.manifest, from })));
  request.signal.throwIfAborted();
  const needs = needsOf(own, labelled);
  return {
    results: await Promise.all(needs.map((need) => readNeed(ports, request, need))),
    sources: needs.flatMap(({ from, key }) => (from === undefined ? [] : [{ cluster: from, key }])),
  };
}

async function readNeed(
  ports: PlannerPorts,
  request: PlanRequest,
  { key, from, usedBy }: NeededObject,
): Promise<FoundTemplate | MissingTemplate> {
  if (from === undefined) {
    return {
      type: 'missing',
      note: invalidInputNote(
        'dependencies',
        `${key.kind} ${key.name} is a dependency of a manifest and must be read from the hub, but there is no hub`,
      ),
    };
  }
  const answer = await readLive(ports, request, { cluster: from, key });
  switch (answer.result) {
    case 'read':
      return {
        type: 'found',
        object: { ...templateOf(answer, from, portableOptionsOf(request.spec)), path: 'dependencies', usedBy },
        from,
      };
    case 'absent': {
      const message = `${answer.message}: its existing copies stay unchanged`;
      const note: Note = { severity: 'WARNING', code: 'DEPENDENCY_MISSING', message, path: 'dependencies' };
      return { type: 'missing', note, dependency: { key, usedBy } };
    }
    case 'failed':
      return missingTemplate('dependencies', answer);
    default:
      return answer satisfies never;
  }
}

/**
 * Returns the keys of dependencies that are selected by labels. Their names come from the mirror, after a wait of at most 10 s for it.
 * `readNeed` later reads each object live, with the identity of the intent.
 */
async function labelledNeeds(
  { members, visibility }: PlannerPorts,
  { spec, signal }: PlanRequest,
  { manifest, from }: { readonly manifest: Manifest; readonly from: ClusterName | undefined },
): Promise<readonly ObjectKey[]> {
  const wanted = labelledDependenciesOf(manifest);
  if (from === undefined || wanted.length === 0) return [];
  await members.objects.whenRead(
    wanted.map((need) => ({ cluster: from, kind: groupKindOfKey(need) })),
    maxMirrorWaitMs,
    signal,
  );
  const visible = await Promise.all(
    wanted.map(async (need) => {
      const namespaces = need.namespace === undefined ? undefined : [need.namespace];
      // Names come from a list, so the right to get single objects is not enough.
      const objects = await visibility?.objects(spec, { cluster: from, kind: groupKindOfKey(need), namespaces, verb: 'list' }, signal);
      return objects?.has(need.namespace) === false ? [] : [need];
    }),
  );
  return visible.flat().flatMap(({ apiVersion, kind, namespace, labels }) => {
    const found = (members.objects.all(from, groupKindOfKey({ apiVersion, kind })) ?? []).filter(
      ({ metadata }) => metadata.namespace === namespace,
    );
    const matching = found.filter(({ metadata }) => Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value));
    return matching.map(({ metadata: { name } }) => ({ apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name }));
  });
}

/** Returns the dependencies sorted by key. A dependency of several objects is listed once. */
function needsOf(own: readonly Omit<FoundTemplate, 'type'>[], labelled: readonly (readonly ObjectKey[])[]): readonly NeededObject[] {
  const have = new Set(own.map(({ object }) => textOfKey(keyOfManifest(object.manifest))));
  const needs = new Map<string, NeededObject>();
  own.forEach(({ object, from }, index) => {
    for (const key of [...dependenciesOf(object.manifest), ...(labelled[index] ?? [])]) {
      const text = textOfKey(key);
      if (have.has(text)) continue;
      const known = needs.get(text);
      needs.set(text, known === undefined ? { key, from, usedBy: [index] } : { ...known, usedBy: [...known.usedBy, index] });
    }
  });
  return [...needs].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, need]) => need);
}
