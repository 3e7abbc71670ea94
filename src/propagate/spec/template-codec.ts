import type { JsonObject } from '../../core/json.ts';
import { isPathSegment } from '../../core/names.ts';
import { groupKindOf } from '../rendering/pod-specs.ts';
import { type ManifestsRead, readManifestJson, readManifestText } from '../rendering/read-manifests.ts';
import type { TemplateSource } from '../spec.ts';
import { anyObject, below, type Codec, checked, list, mapped, optional, type Place, record, required, tell } from './codec.ts';
import { keyFields, withKey } from './flat-key.ts';
import { anyText, clusterText, manifestsText } from './texts.ts';

const ref = checked(
  record({
    cluster: required(clusterText),
    ...keyFields,
    uid: optional(anyText),
  }),
  ({ name, namespace }, place) => {
    if (!isPathSegment(name)) tell(below(place, 'name'), 'expected the name of an object');
    if (namespace !== undefined && !isPathSegment(namespace)) tell(below(place, 'namespace'), 'expected the name of a namespace');
  },
);

const source = record({ json: optional(anyObject), yaml: optional(manifestsText), ref: optional(ref) });

/** A template has at most so many objects (propagation.md 2.1). */
const maxObjects = 20;

/**
 * What is propagated: 1 to 20 objects. A Secret by `ref` only: what stands here stands in a resource for everybody to read. What came as YAML, one text
 * of several documents too, is printed as `json`.
 */
export const template: Codec<readonly TemplateSource[]> = mapped(list(source, { min: 1, max: maxObjects }), {
  to(written, place) {
    const before = place.problems.length;
    const sources = written.flatMap((one, index) => sourcesOf(one, below(place, index)));
    if (sources.length > maxObjects) tell(place, `expected at most ${maxObjects} objects, got ${sources.length}`);
    return place.problems.length > before ? undefined : sources;
  },
  from: (sources) => sources.map(writtenOf),
});

interface Written {
  readonly json?: JsonObject;
  readonly yaml?: string;
  readonly ref?: RefWritten;
}
type RefWritten = NonNullable<ReturnType<typeof ref.read>>;

function sourcesOf({ json, yaml, ref: to }: Written, place: Place): readonly TemplateSource[] {
  if ([json, yaml, to].filter((one) => one !== undefined).length !== 1) {
    tell(place, 'expected one of json, yaml and ref');
    return [];
  }
  if (to !== undefined) return [refOf(to)];
  if (json !== undefined) return sourcesIn(readManifestJson(json), below(place, 'json'));
  return sourcesIn(readManifestText(yaml ?? ''), below(place, 'yaml'));
}

function sourcesIn(read: ManifestsRead, place: Place): readonly TemplateSource[] {
  if (read.result === 'refused') {
    tell(beneath(place, read.path), read.message);
    return [];
  }
  const { manifests } = read;
  manifests.forEach((manifest, index) => {
    if (groupKindOf(manifest) !== 'Secret') return;
    const path = manifests.length === 1 ? '' : `[${index}]`;
    tell(beneath(place, path), 'expected a Secret by ref only: its data would stand here for everybody to read');
  });
  return manifests.map((manifest) => ({ type: 'manifest', manifest }));
}

function beneath(place: Place, path: string): Place {
  return path === '' || path.startsWith('[') ? { ...place, path: `${place.path}${path}` } : below(place, path);
}

function refOf(written: RefWritten): TemplateSource {
  const [key, rest] = withKey(written);
  return { type: 'ref', key, ...rest };
}

function writtenOf(from: TemplateSource): Written {
  switch (from.type) {
    case 'manifest':
      return { json: from.manifest };
    case 'ref':
      return { ref: { cluster: from.cluster, ...from.key, ...(from.uid === undefined ? {} : { uid: from.uid }) } };
    default:
      return from satisfies never;
  }
}
