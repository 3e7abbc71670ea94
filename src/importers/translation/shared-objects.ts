import type { Json } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { isClusterScopedKind } from '../documents/cluster-scoped-kinds.ts';
import { warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { nameListOf } from '../model/name-list.ts';

/** The intent of a proposal, from which its objects are read. */
export interface ProposedIntent {
  readonly namespace: string;
  readonly name: string;
  /** The spec of the custom resource. */
  readonly spec: Json;
  /** The path of the document of its resource. */
  readonly path: string;
}

/**
 * Returns a note `TWO_SYSTEMS` for each Propagation with an object that another one has too, for example because a Karmada policy and an
 * annotation of Federation v1 propagate one Deployment. In a cluster of both, the second one finds a conflict. Propagations that name
 * different clusters have no note.
 */
export function notesOfSharedObjects<Of extends ProposedIntent>(all: readonly Of[]): ReadonlyMap<Of, ImportNote> {
  const bringers = new Map<string, Of[]>();
  for (const one of all) {
    for (const key of new Set(listAt(one.spec, 'template').flatMap((entry) => keyTextOf(entry, one.namespace)))) {
      const others = bringers.get(key);
      if (others === undefined) bringers.set(key, [one]);
      else others.push(one);
    }
  }
  const notes = new Map<Of, ImportNote>();
  for (const [key, all] of bringers) {
    const several = all.length < 2 ? [] : overlapping(all);
    if (several.length === 0) continue;
    const [, kind = '', , object = ''] = key.split('/');
    const names = nameListOf(several.map(({ namespace, name }) => `${namespace}/${name}`));
    const message = `expected one Propagation for ${kind} ${object}, got ${names}: in a cluster of several, only one can own the copy. Delete all but one`;
    for (const one of several) if (!notes.has(one)) notes.set(one, warningNote('TWO_SYSTEMS', one.path, message));
  }
  return notes;
}

/** Returns the Propagations that may have a cluster in common with another one. */
function overlapping<Of extends ProposedIntent>(all: readonly Of[]): readonly Of[] {
  const placed = all.map((one) => ({ one, names: namesIn(one) })).filter(({ names }) => names === undefined || names.length > 0);
  const counts = new Map<string, number>();
  for (const { names = [] } of placed) for (const name of new Set(names)) counts.set(name, (counts.get(name) ?? 0) + 1);
  // A placement without names may choose every cluster.
  const isOpen = placed.some(({ names }) => names === undefined);
  const shared = isOpen ? placed : placed.filter(({ names = [] }) => names.some((name) => (counts.get(name) ?? 0) > 1));
  return shared.length < 2 ? [] : shared.map(({ one }) => one);
}

/** Returns the names of the clusters that a Propagation may choose. Undefined if its placement lists none. */
function namesIn({ spec }: ProposedIntent): readonly string[] | undefined {
  const clusters = valueAt(spec, 'placement', 'clusters');
  return Array.isArray(clusters) ? clusters.filter((name) => typeof name === 'string') : undefined;
}

/**
 * Returns the text of the key of a template's object. Empty for an object that is not fully named. A copy without a namespace goes to the
 * namespace of its Propagation.
 */
function keyTextOf(entry: Json, ownNamespace: string): readonly string[] {
  const [json, ref] = [valueAt(entry, 'json'), valueAt(entry, 'ref')];
  const object = json ?? ref;
  const named = json === undefined ? ref : valueAt(json, 'metadata');
  const [apiVersion, kind, name] = [textAt(object, 'apiVersion'), textAt(object, 'kind'), textAt(named, 'name')];
  if (apiVersion === undefined || kind === undefined || name === undefined) return [];
  const namespace = isClusterScopedKind({ apiVersion, kind }) ? '' : textAt(named, 'namespace') || ownNamespace;
  return [textOfKey({ apiVersion, kind, name, namespace })];
}
