import { type Json, tryParseJson } from '../../core/json.ts';
import type { KubeFedPreference } from '../../propagate/kubefed/plan-kubefed.ts';
import { goFieldsOf, goObjectIn, type JsonPlace, RefusedJson, refusedOr } from './go-json.ts';

/** The preferences of a workload, as the annotations of Federation v1 hold them. */
interface ReplicaPreferences {
  readonly rebalance: boolean;
  /** The preference of each cluster, by name. `*` applies to every cluster that has no entry. */
  readonly clusters: Readonly<Record<string, KubeFedPreference>>;
}

/** The result of reading an annotation. `path` is the path of the wrong field in the JSON document. */
export type PreferencesRead =
  | { readonly result: 'read'; readonly preferences: ReplicaPreferences; readonly unknownFields: readonly string[] }
  | { readonly result: 'refused'; readonly path: string; readonly message: string };

/**
 * Reads the annotation of a workload with its preferences, as leniently as Federation v1: a field may be null, upper and lower case of its
 * name do not matter, and unknown fields are ignored.
 */
export function readPreferences(annotation: string): PreferencesRead {
  const document = tryParseJson(annotation);
  if (document === undefined) return { result: 'refused', path: '', message: 'expected JSON' };
  const unknownFields: string[] = [];
  return refusedOr((): PreferencesRead => {
    const { rebalance, clusters } = goFieldsOf(document, ['rebalance', 'clusters'], { path: '', unknownFields });
    const preferences = Object.entries(goObjectIn(clusters, 'clusters')).map(([name, value = null]): [string, KubeFedPreference] => [
      name,
      preferenceOf(value, { path: `clusters[${JSON.stringify(name)}]`, unknownFields }),
    ]);
    return {
      result: 'read',
      preferences: { rebalance: flagIn(rebalance, 'rebalance'), clusters: Object.fromEntries(preferences) },
      unknownFields,
    };
  });
}

function preferenceOf(value: Json, place: JsonPlace): KubeFedPreference {
  const names = ['minReplicas', 'maxReplicas', 'weight'] as const;
  const fields = goFieldsOf(value, names, place);
  const counts = names.map((name) => [name, integerIn(fields[name], `${place.path}.${name}`)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count !== undefined));
}

function flagIn(value: Json | undefined, path: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw new RefusedJson(path, 'true or false');
  return value;
}

function integerIn(value: Json | undefined, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Number.isInteger(value)) throw new RefusedJson(path, 'an integer');
  return Number(value);
}
