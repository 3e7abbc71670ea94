import type { JsonObject } from '../../core/json.ts';
import { labelsAt, textAt } from '../../core/json-at.ts';
import type { ImportNote } from '../model/import-result.ts';

/** The objects of one system in a cluster. */
export interface LivingObjects {
  readonly objects: readonly LivingObject[];
  /**
   * The clusters of the system by their names, with the labels that they have there. Absent if the system has no list of clusters, or the list
   * could not be read.
   */
  readonly members?: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Notes about objects that could not be read, and that no Propagation depends on. Default: none. */
  readonly notes?: readonly ImportNote[];
}

/** An object that was read for an import. */
export interface LivingObject {
  readonly json: JsonObject;
  /**
   * True if the object may concern resources outside the scope of the import. If no Propagation uses it, the result does not mention it.
   * Default: false.
   */
  readonly isContext?: boolean;
  /** True if a resource of the scope needs the object. Its Propagation is then part of the result, whatever its kind is. Default: false. */
  readonly followsScope?: boolean;
}

/** Returns the labels of clusters by their names. */
export function membersOf(clusters: readonly JsonObject[]): ReadonlyMap<string, Readonly<Record<string, string>>> {
  return new Map(clusters.map((cluster) => [textAt(cluster, 'metadata', 'name') ?? '', labelsAt(cluster, 'metadata', 'labels')]));
}
