import { MusterError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { parseSelector, printSelector } from '../../core/selectors.ts';
import type { Propagation, PropagationMetadata, SpecProblem } from '../propagation.ts';
import type { PropagationInput } from '../propagations.ts';
import type { DeletionSpec } from '../spec.ts';
import { schemaSpelling } from '../spelling.ts';
import { below, type Place, tell } from './codec.ts';
import { printSpec } from './print-spec.ts';
import { labelSelector, selectorDocument } from './selector.ts';
import type { Shape } from './shape.ts';
import { deletion, spec } from './spec-codec.ts';

/** What an input asks for: where it is to stand, and its spec as a document that is not checked yet. */
export interface AskedPropagation {
  readonly namespace: string;
  readonly name: string;
  /** Absent: nothing was said of them. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly document: JsonObject;
  /** What could not be put into a document, such as a selector that none can say. */
  readonly problems: readonly SpecProblem[];
}

/**
 * The input as the document of a resource: enum values as resources spell them, selectors as objects, null left out, everything else as it came. What
 * is no member of a spec stands in the document too: `parseSpec` says so.
 */
export function documentOf({ namespace, name, labels, ...fields }: PropagationInput): AskedPropagation {
  const problems: SpecProblem[] = [];
  const document = toDocument(parseJson(JSON.stringify(fields)), spec.shape, { path: '', problems });
  return {
    namespace,
    name,
    ...(labels === undefined || labels === null ? {} : { labels }),
    document: isJsonObject(document) ? document : {},
    problems,
  };
}

/** What of a resource its input says. */
export interface Intended extends Pick<Propagation, 'spec' | 'document'> {
  readonly metadata: Pick<PropagationMetadata, 'namespace' | 'name' | 'labels'>;
}

/** The `PropagationInput` that a resource came from, or could have: `documentOf` makes a document of it that says the same. */
export function inputOf({ metadata, spec: read, document }: Intended): Json {
  const { requester, ...asked } = 'problems' in read ? document : printSpec(read);
  const { namespace, name, labels } = metadata;
  const fields = toInput(asked, spec.shape);
  return { namespace, name, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...(isJsonObject(fields) ? fields : {}) };
}

/** `DeletionInput` of the schema; or what is wrong with it. */
export function readDeletion(input: JsonObject): { readonly deletion: DeletionSpec } | { readonly problems: readonly SpecProblem[] } {
  const place: Place = { path: 'deletion', problems: [] };
  const document = toDocument(parseJson(JSON.stringify(input)), deletion.shape, place);
  const read = deletion.read(document ?? {}, place);
  return read === undefined ? { problems: place.problems } : { deletion: read };
}

type Translate = (value: Json, shape: Shape, place: Place) => Json | undefined;

function toDocument(value: Json, shape: Shape, place: Place): Json | undefined {
  if (value === null) return undefined;
  switch (shape.type) {
    case 'choice':
      return shape.values.find((known) => inSchema(known, shape.spelling) === value) ?? value;
    case 'selector':
      return typeof value === 'string' ? selectorOf(value, place) : value;
    default:
      return withParts({ value, shape, place }, toDocument);
  }
}

function toInput(value: Json, shape: Shape, place: Place = { path: '', problems: [] }): Json | undefined {
  switch (shape.type) {
    case 'choice':
      return typeof value === 'string' ? inSchema(value, shape.spelling) : value;
    case 'selector': {
      const read = labelSelector.read(value, place);
      return read === undefined ? value : printSelector(read);
    }
    default:
      return withParts({ value, shape, place }, toInput);
  }
}

interface Part {
  readonly value: Json;
  readonly shape: Shape;
  readonly place: Place;
}

/** The value with the members of its records and lists translated. What has no such shape stays as it is. */
function withParts({ value, shape, place }: Part, translate: Translate): Json {
  if (shape.type === 'list' && Array.isArray(value)) {
    return value.map((member: Json, index) => translate(member, shape.of, below(place, index)) ?? null);
  }
  if (shape.type !== 'record' || !isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member = null]): readonly [string, Json | undefined] => {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    return [name, field === undefined ? (member ?? undefined) : translate(member, field.shape, below(place, name))];
  });
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

function inSchema(value: string, spelling: 'capitals' | 'same'): string {
  return spelling === 'same' ? value : schemaSpelling(value);
}

function selectorOf(text: string, place: Place): JsonObject | undefined {
  try {
    return selectorDocument(parseSelector(text)) ?? tell(place, 'expected a selector without < and >, which no resource can say');
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return tell(place, error.message);
  }
}
