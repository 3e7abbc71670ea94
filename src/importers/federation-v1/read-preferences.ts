import { isJsonObject, type Json, type JsonObject, tryParseJson } from '../../core/json.ts';
import type { KubeFedPreference } from '../../propagate/kubefed/plan-kubefed.ts';

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
 * Reads the annotation of a workload with its preferences, as leniently as Federation v1: a field may be null, may have another case, and
 * unknown fields do not matter.
 */
export function readPreferences(annotation: string): PreferencesRead {
  const document = tryParseJson(annotation);
  if (document === undefined) return { result: 'refused', path: '', message: 'expected JSON' };
  const unknownFields: string[] = [];
  try {
    const { rebalance, clusters } = fieldsOf(document, ['rebalance', 'clusters'], { path: '', unknownFields });
    const preferences = Object.entries(objectIn(clusters, 'clusters')).map(([name, value = null]): [string, KubeFedPreference] => [
      name,
      preferenceOf(value, { path: `clusters[${JSON.stringify(name)}]`, unknownFields }),
    ]);
    return {
      result: 'read',
      preferences: { rebalance: flagIn(rebalance, 'rebalance'), clusters: Object.fromEntries(preferences) },
      unknownFields,
    };
  } catch (error) {
    if (error instanceof RefusedPreference) return { result: 'refused', path: error.path, message: error.message };
    throw error;
  }
}

class RefusedPreference extends Error {
  readonly path: string;

  constructor(path: string, expected: string) {
    super(`expected ${expected}`);
    this.path = path;
  }
}

interface Place {
  readonly path: string;
  readonly unknownFields: string[];
}

function preferenceOf(value: Json, place: Place): KubeFedPreference {
  const names = ['minReplicas', 'maxReplicas', 'weight'] as const;
  const fields = fieldsOf(value, names, place);
  const counts = names.map((name) => [name, integerIn(fields[name], `${place.path}.${name}`)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count !== undefined));
}

/**
 * Returns the known fields of an object, and adds the paths of all other fields to `unknownFields`. As in Go's encoding/json, the case of a
 * field does not matter, and the last one counts.
 */
function fieldsOf<const Name extends string>(
  value: Json,
  names: readonly Name[],
  { path, unknownFields }: Place,
): Readonly<Partial<Record<Name, Json>>> {
  const fields: Partial<Record<Name, Json>> = {};
  for (const [key, member = null] of Object.entries(objectIn(value, path))) {
    const name = names.find((known) => known.toLowerCase() === key.toLowerCase());
    if (name === undefined) unknownFields.push(path === '' ? key : `${path}.${key}`);
    else fields[name] = member;
  }
  return fields;
}

function objectIn(value: Json | undefined, path: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw new RefusedPreference(path, 'an object');
  return value;
}

function flagIn(value: Json | undefined, path: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw new RefusedPreference(path, 'true or false');
  return value;
}

function integerIn(value: Json | undefined, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Number.isInteger(value)) throw new RefusedPreference(path, 'an integer');
  return Number(value);
}
