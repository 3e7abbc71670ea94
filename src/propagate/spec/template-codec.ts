import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
import { readYamlDocuments } from '../rendering/yaml-documents.ts';
import type { Manifest, TemplateSource } from '../spec.ts';
import { anyObject, below, type Codec, list, mapped, optional, type Place, record, required, shown, tell } from './codec.ts';
import { anyText, clusterText, manifestsText } from './texts.ts';

const ref = record({
  cluster: required(clusterText),
  apiVersion: required(anyText),
  kind: required(anyText),
  namespace: optional(anyText),
  name: required(anyText),
  uid: optional(anyText),
});

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
  if (json !== undefined) return manifestsOf([json], below(place, 'json'));
  const read = readYamlDocuments(yaml ?? '');
  if (read.result === 'read' && read.documents.length > 0) return manifestsOf(read.documents, below(place, 'yaml'));
  tell(below(place, 'yaml'), read.result === 'read' ? 'expected a manifest, got none' : read.message);
  return [];
}

function manifestsOf(documents: readonly Json[], place: Place): readonly TemplateSource[] {
  const several = documents.length > 1;
  return documents.flatMap((document, index) => {
    const manifest = manifestOf(document, several ? below(place, index) : place);
    return manifest === undefined ? [] : [{ type: 'manifest', manifest } as const];
  });
}

function refOf({ cluster, uid, ...key }: RefWritten): TemplateSource {
  return { type: 'ref', cluster, key, ...(uid === undefined ? {} : { uid }) };
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

function manifestOf(json: Json, place: Place): Manifest | undefined {
  if (!isJsonObject(json)) return tell(place, `expected an object, got ${shown(json)}`);
  const before = place.problems.length;
  const apiVersion = textAt(json, 'apiVersion') ?? '';
  const kind = textAt(json, 'kind') ?? '';
  if (apiVersion === '') tell(below(place, 'apiVersion'), 'is required');
  if (kind === '') tell(below(place, 'kind'), 'is required');
  if (valueAt(json, 'metadata', 'generateName') !== undefined) tell(below(place, 'metadata.generateName'), 'expected a name');
  else if ((textAt(json, 'metadata', 'name') ?? '') === '') tell(below(place, 'metadata.name'), 'is required');
  if (kind.endsWith('List') && valueAt(json, 'items') !== undefined) tell(place, 'expected one object, got a list of them');
  if (apiVersion === 'v1' && kind === 'Secret')
    tell(place, 'expected a Secret by ref only: its data would stand here for everybody to read');
  return isManifest(json) && place.problems.length === before ? json : undefined;
}

function isManifest(json: JsonObject): json is Manifest {
  return textAt(json, 'apiVersion') !== undefined && textAt(json, 'kind') !== undefined && textAt(json, 'metadata', 'name') !== undefined;
}
