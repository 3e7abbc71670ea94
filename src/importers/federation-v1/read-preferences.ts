import type { KubeFedPreference } from '../../propagate/kubefed/plan-kubefed.ts';
import { catchRefusedJson, type GoJson, goFieldsOf, goMembersOf, goValueIn, type JsonPlace, tryParseGoJson } from './go-json.ts';

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
 * name do not matter, unknown fields are ignored, and a member may appear several times.
 */
export function readPreferences(annotation: string): PreferencesRead {
  const document = tryParseGoJson(annotation);
  if (document === undefined) return { result: 'refused', path: '', message: 'expected JSON' };
  const unknownFields: string[] = [];
  return catchRefusedJson((): PreferencesRead => {
    const { rebalance, clusters } = goFieldsOf(document, ['rebalance', 'clusters'], { path: '', unknownFields });
    let preferences: readonly (readonly [string, KubeFedPreference])[] = [];
    for (const value of clusters) {
      const read = goMembersOf(value, 'clusters').map(([name, preference]): [string, KubeFedPreference] => [
        name,
        preferenceOf(preference, { path: `clusters[${JSON.stringify(name)}]`, unknownFields }),
      ]);
      // Go adds the members to the map that it has, and null removes the map.
      preferences = value === null ? [] : [...preferences, ...read];
    }
    return {
      result: 'read',
      preferences: {
        rebalance: goValueIn(rebalance, (value) => typeof value === 'boolean', { path: 'rebalance', expected: 'true or false' }) ?? false,
        clusters: Object.fromEntries(preferences),
      },
      unknownFields,
    };
  });
}

function preferenceOf(value: GoJson, place: JsonPlace): KubeFedPreference {
  const names = ['minReplicas', 'maxReplicas', 'weight'] as const;
  const fields = goFieldsOf(value, names, place);
  const counts = names.map((name) => {
    const read = integerIn(fields[name], `${place.path}.${name}`);
    // The maximum is a pointer, which null empties.
    return [name, name === 'maxReplicas' && fields[name].at(-1) === null ? undefined : read] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count !== undefined));
}

/** Integers beyond 2⁵³ are rounded. They are more than the replicas that a workload can have. */
function integerIn(values: readonly GoJson[], path: string): number | undefined {
  const integer = goValueIn(values, (value) => typeof value === 'bigint', { path, expected: 'an integer' });
  return integer === undefined ? undefined : Number(integer);
}
