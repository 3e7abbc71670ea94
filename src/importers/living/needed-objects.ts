import type { JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import { groupOfApiVersion } from '../../core/kinds.ts';
import type { Manifest, ObjectKey } from '../../manifests/manifest.ts';
import { groupKindOfKey, keyOfManifest, textOfKey } from '../../manifests/object-key.ts';
import { dependenciesOf } from '../../propagate/plan/snapshot/dependencies.ts';
import type { ClusterReader } from './cluster-reader.ts';
import type { ImportScope } from './import-scope.ts';
import type { LivingObject } from './living-objects.ts';
import { listsFor } from './selected-lists.ts';

interface NeededRequest {
  /** The resources whose policies also propagate the objects that they need. */
  readonly users: readonly JsonObject[];
  /** The resources that were read already. */
  readonly known: readonly JsonObject[];
  readonly scope: ImportScope;
}

/**
 * Reads the objects that the resources of `users` need, such as their ConfigMaps. Leaves out known objects, and objects that do not exist.
 * Reads an object outside the scope only if a resource of the scope needs it. Reads only metadata, because the Propagations refer to these
 * objects and do not contain them.
 */
export async function readNeededObjects(reader: ClusterReader, { users, known, scope }: NeededRequest): Promise<readonly LivingObject[]> {
  const knownKeys = new Set(known.map(keyTextOf));
  const needed = new Map<string, NeededObject>();
  for (const user of users) {
    const isInScope = scope.includes({ group: groupOfApiVersion(textAt(user, 'apiVersion') ?? ''), kind: textAt(user, 'kind') ?? '' });
    for (const key of dependenciesOf(user as Manifest)) {
      const text = textOfKey(key);
      if (!knownKeys.has(text)) needed.set(text, { key, followsScope: isInScope || needed.get(text)?.followsScope === true });
    }
  }
  // A Propagation outside the scope is not part of the result, so its objects need not be readable.
  const wanted = [...needed.values()].filter(({ key, followsScope }) => followsScope || scope.includes(groupKindOfKey(key)));
  const byKind = Map.groupBy(wanted, ({ key: { apiVersion, kind } }) => `${apiVersion} ${kind}`);
  const read = await Promise.all(
    byKind.values().map((ofKind) =>
      listNeeded(
        reader,
        ofKind.map(({ key }) => key),
      ),
    ),
  );
  return read.flat().flatMap((json): readonly LivingObject[] => {
    const found = needed.get(keyTextOf(json));
    return found === undefined ? [] : [{ json, isContext: true, followsScope: found.followsScope }];
  });
}

interface NeededObject {
  readonly key: ObjectKey;
  /** True if a resource of the scope needs the object. */
  readonly followsScope: boolean;
}

/** Lists the needed objects of one kind. The result may contain other objects of the kind. */
async function listNeeded(reader: ClusterReader, keys: readonly ObjectKey[]): Promise<readonly JsonObject[]> {
  const [first] = keys;
  const kind = first && (await reader.kindOf(first.apiVersion, first.kind));
  if (kind === undefined) return [];
  const read = await Promise.all(listsFor(kind, keys, undefined).map((list) => reader.list({ ...list, isMetadataOnly: true })));
  return read.flatMap(({ objects }) => objects);
}

function keyTextOf(json: JsonObject): string {
  return textOfKey(keyOfManifest(json as Manifest));
}
