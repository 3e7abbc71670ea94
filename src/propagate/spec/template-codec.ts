import type { JsonObject } from '../../core/json.ts';
import { textAt, valueAt } from '../../core/json-at.ts';
import type { Manifest, TemplateSource } from '../spec.ts';
import { anyObject, below, type Codec, list, mapped, optional, type Place, record, required, tell } from './codec.ts';
import { anyText, clusterText } from './texts.ts';

const ref = record({
  cluster: required(clusterText),
  apiVersion: required(anyText),
  kind: required(anyText),
  namespace: optional(anyText),
  name: required(anyText),
  uid: optional(anyText),
});

const source = record({ json: optional(anyObject), ref: optional(ref) });

/** What is propagated: 1 to 20 objects. A Secret by `ref` only: what stands here stands in a resource for everybody to read. */
export const template: Codec<readonly TemplateSource[]> = mapped(list(source, { min: 1, max: 20 }), {
  to(written, place) {
    const read = written.map((one, index) => sourceOf(one, below(place, index)));
    return read.every((one) => one !== undefined) ? read : undefined;
  },
  from: (sources) => sources.map(writtenOf),
});

interface Written {
  readonly json?: JsonObject;
  readonly ref?: RefWritten;
}
type RefWritten = NonNullable<ReturnType<typeof ref.read>>;

function sourceOf({ json, ref: to }: Written, place: Place): TemplateSource | undefined {
  if ((json === undefined) === (to === undefined)) return tell(place, 'expected one of json, yaml and ref');
  if (to !== undefined) return refOf(to);
  const manifest = json === undefined ? undefined : manifestOf(json, below(place, 'json'));
  return manifest === undefined ? undefined : { type: 'manifest', manifest };
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

function manifestOf(json: JsonObject, place: Place): Manifest | undefined {
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
