import type { JsonObject } from '../../core/json.ts';
import type { KubeFedPreference } from '../../propagate/kubefed/plan-kubefed.ts';
import type { ImportClusters } from '../clusters/import-clusters.ts';
import { knownClusters } from '../clusters/known-clusters.ts';
import { infoNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { fieldPath } from '../model/unknown-fields.ts';

/** The preferences of one workload, as KubeFed and Federation v1 have them. */
export interface PreferencesToImport {
  /** The preference of each cluster, by name. `*`: for every other cluster. */
  readonly clusters: Readonly<Record<string, KubeFedPreference>>;
  /** The path of `clusters` in the input. */
  readonly path: string;
}

/** Rules of `replicas` with the same effect as preferences. */
export interface ImportedRules {
  readonly rules: readonly JsonObject[];
  /** `exact.policies` with the preferences, if rules cannot hold them. Empty if rules can, and always empty if the import is not exact. */
  readonly policies: JsonObject;
  readonly notes: readonly ImportNote[];
}

/**
 * Translates preferences to the rules of a spec: one for each named cluster, and one for the others if there is `*`. A cluster without a
 * rule gets no replicas. Without any preference, one rule gives all clusters the weight 0.
 *
 * Notes tell where the source system divides replicas in another way (`MIN_FIRST`, `TIE_BY_HASH`). In exact mode there is no such
 * difference.
 */
export function importedRules({ clusters, path }: PreferencesToImport, fleet: ImportClusters): ImportedRules {
  const named = Object.entries(clusters).filter(([name]) => name !== '*');
  const known = knownClusters(
    fleet,
    named.map(([name]) => ({ name, path: fieldPath(path, name) })),
  );
  const knownNames = new Set(known.names);
  const others = clusters['*'];
  const rules = [
    ...named.filter(([name]) => knownNames.has(name)).map(([name, preference]) => ruleOf({ clusters: [name] }, preference)),
    ...(others === undefined ? [] : [ruleOf(named.length === 0 ? undefined : { exclude: named.map(([name]) => name) }, others)]),
  ];
  return {
    rules: rules.length === 0 ? [{ weight: 0 }] : rules,
    policies: fleet.isExact && !Object.values(clusters).every(isRule) ? { preferences: printedPreferences(clusters) } : {},
    notes: [
      ...known.notes,
      // In exact mode the planner reads the preferences themselves.
      ...(fleet.isExact
        ? []
        : [
            ...Object.entries(clusters).flatMap(([name, preference]) => boundsNotes(preference, fieldPath(path, name))),
            ...differenceNotes(Object.values(clusters), path),
          ]),
    ],
  };
}

/** The most replicas that a workload can have. A larger minimum means all replicas, and a larger maximum means no limit. */
const maxCount = 2 ** 31 - 1;

function ruleOf(set: JsonObject | undefined, { minReplicas, maxReplicas, weight }: KubeFedPreference): JsonObject {
  const min = Math.min(maxCount, Math.max(0, minReplicas ?? 0));
  const max = maxReplicas === undefined || maxReplicas === null || maxReplicas > maxCount ? undefined : Math.max(0, maxReplicas);
  return {
    ...(set === undefined ? {} : { set }),
    weight: Math.max(0, weight ?? 0),
    ...(min === 0 ? {} : { min: max === undefined ? min : Math.min(min, max) }),
    ...(max === undefined ? {} : { max }),
  };
}

/** True if a rule can hold the preference: no number is negative, and the minimum is not above the maximum. */
function isRule({ minReplicas, maxReplicas, weight }: KubeFedPreference): boolean {
  const [min, max] = [minReplicas ?? 0, maxReplicas ?? Number.POSITIVE_INFINITY];
  return min >= 0 && min <= max && (weight ?? 0) >= 0;
}

function printedPreferences(clusters: PreferencesToImport['clusters']): JsonObject {
  const printed = Object.entries(clusters).map(([name, { minReplicas, maxReplicas, weight }]): [string, JsonObject] => {
    const counts = Object.entries({ minReplicas, maxReplicas, weight }).flatMap(([field, count]) =>
      count === undefined || count === null ? [] : [[field, count] as const],
    );
    return [name, Object.fromEntries(counts)];
  });
  return Object.fromEntries(printed);
}

function boundsNotes(preference: KubeFedPreference, path: string): readonly ImportNote[] {
  if (isRule(preference)) return [];
  const [min, max] = [preference.minReplicas ?? 0, preference.maxReplicas ?? Number.POSITIVE_INFINITY];
  if (min <= max) return [warningNote('UNSUPPORTED', path, 'expected no negative numbers: the Propagation has 0 for each')];
  const message = `expected minReplicas to be at most maxReplicas, got ${min} and ${max}: the Propagation has ${max} for both`;
  return [warningNote('UNSUPPORTED', `${path}.minReplicas`, message)];
}

function differenceNotes(preferences: readonly KubeFedPreference[], path: string): readonly ImportNote[] {
  const hasMinimum = preferences.some(({ minReplicas }) => (minReplicas ?? 0) > 0);
  const minimums = infoNote(
    'MIN_FIRST',
    path,
    'the source gives each cluster its minimum first and divides only the rest by weight; Muster divides all replicas by weight and ' +
      'raises clusters below their minimum',
  );
  const ties = infoNote(
    'TIE_BY_HASH',
    path,
    'the source rounds up and begins with the cluster of the lowest hash; Muster rounds to the nearest count, and ties go to the first name',
  );
  return [...(hasMinimum ? [minimums] : []), ties];
}
