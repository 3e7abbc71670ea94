import type { ObjectAddress } from '../../../changes/object-client.ts';
import { listAt, objectAt, textAt } from '../../../core/json-at.ts';
import { groupOfApiVersion, type ServedResource, versionOfApiVersion } from '../../../core/kinds.ts';
import type { Manifest, ObjectKey } from '../../../manifests/manifest.ts';
import type { RenderedObject } from '../../model/plan.ts';
import type { CopyWork } from './copy-work.ts';

/**
 * Returns the address of the object, in the version of its manifest. Undefined if the cluster does not serve its kind, or if that is not
 * known yet.
 *
 * @param made The objects that are written in the same work. A CustomResourceDefinition among them makes its kind known before the
 * cluster's discovery does.
 */
export function copyAddressOf(
  key: ObjectKey,
  { served }: Pick<CopyWork, 'served'>,
  made: readonly RenderedObject[],
): ObjectAddress | undefined {
  const found = served(key);
  const resource = found === undefined || found === 'absent' ? definedAmong(made, key) : found;
  if (resource === undefined) return undefined;
  const { namespace, name } = key;
  return {
    resource: { ...resource, version: versionOfApiVersion(key.apiVersion) },
    name,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

function definedAmong(made: readonly RenderedObject[], key: ObjectKey): ServedResource | undefined {
  const found = made.find(({ desired }) => isDefinitionOf(desired, key));
  if (found === undefined) return undefined;
  const spec = objectAt(found.desired, 'spec');
  const version = versionOfApiVersion(key.apiVersion);
  return {
    group: groupOfApiVersion(key.apiVersion),
    kind: key.kind,
    version,
    versions: [version],
    resource: textAt(spec, 'names', 'plural') ?? '',
    singular: textAt(spec, 'names', 'singular') ?? '',
    namespaced: textAt(spec, 'scope') === 'Namespaced',
    verbs: ['get', 'create', 'update', 'patch', 'delete'],
    shortNames: [],
    categories: [],
  };
}

function isDefinitionOf(manifest: Manifest, { apiVersion, kind }: ObjectKey): boolean {
  if (manifest.kind !== 'CustomResourceDefinition') return false;
  const spec = objectAt(manifest, 'spec');
  const versions = listAt(spec, 'versions').map((one) => textAt(one, 'name'));
  return (
    textAt(spec, 'group') === groupOfApiVersion(apiVersion) &&
    textAt(spec, 'names', 'kind') === kind &&
    versions.includes(versionOfApiVersion(apiVersion))
  );
}
