import type { JsonObject } from '../../core/json.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { SpecProblem } from '../../propagate/model/spec.ts';
import { maxOverrides } from '../../propagate/model/spec-definition.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';
import type { UniqueNotes } from '../model/unique-notes.ts';
import type { ChosenOverrides } from './override-finder.ts';
import { overridesFor } from './translate-overrides.ts';

/** An object of a Propagation, with the override policies that select it. */
export interface OverriddenObject {
  readonly manifest: Manifest;
  /** The version of the object in its document. */
  readonly writtenVersion: string;
  readonly policies: readonly ChosenOverrides[];
}

interface OverrideScope {
  readonly clusters: ImportClusters;
  /** Receives the notes of the policies. */
  readonly notes: UniqueNotes;
  /** True if the Propagation has several objects, or dependencies that a plan will find. Each entry then names its object. */
  readonly isOneOfMany: boolean;
}

/** The field `overrides` of a spec. Absent if there are no overrides. Absent with a problem if there are too many. */
interface ObjectOverrides {
  readonly fields: { readonly overrides?: readonly JsonObject[] };
  readonly problems: readonly SpecProblem[];
}

/**
 * Returns the overrides of a Propagation, or a problem if there are more than `maxOverrides`. Stops at the first one above the limit, because a
 * text of 3 MiB can give thousands of overrides for each of its resources.
 */
export function overridesOf(objects: readonly OverriddenObject[], { clusters, notes, isOneOfMany }: OverrideScope): ObjectOverrides {
  const overrides: JsonObject[] = [];
  for (const { manifest, writtenVersion, policies } of objects) {
    for (const { overrides: translated } of policies) {
      notes.addAll(translated.notes);
      for (const entry of overridesFor(translated, { manifest, writtenVersion, isOneOfMany }, { clusters, addNote: notes.add })) {
        if (overrides.length === maxOverrides) return tooMany;
        overrides.push(entry);
      }
    }
  }
  return { fields: overrides.length === 0 ? {} : { overrides }, problems: [] };
}

const tooMany: ObjectOverrides = {
  fields: {},
  problems: [{ path: 'overrides', message: `expected at most ${maxOverrides} rules of override policies for one resource, got more` }],
};
