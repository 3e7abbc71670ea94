import type { z } from 'zod';
import { schemaSpelling } from '../../core/enum-spelling.ts';
import { MusterError } from '../../core/errors.ts';
import { innermostSchemaOf, readDocument } from '../../core/json/documents.ts';
import { graphqlHintsOf } from '../../core/json/field-definitions.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { parseLabelSelector, printLabelSelector } from '../../core/selectors.ts';
import { labelSelector, selectorDocument } from './cluster-set-definition.ts';
import type { Propagation, PropagationMetadata } from './propagation.ts';
import type { PropagationInput } from './propagations.ts';
import { type DeletionSpec, printSpec, type SpecProblem } from './spec.ts';
import { deletion, spec } from './spec-definition.ts';

/** A requested Propagation: its namespace, its name, and its spec as a document that is not checked yet. */
export interface RequestedPropagation {
  readonly namespace: string;
  readonly name: string;
  /** Default: the existing labels are kept. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly document: JsonObject;
  /** Problems of values that no document can hold, such as a selector with `<`. */
  readonly problems: readonly SpecProblem[];
}

/**
 * Turns a GraphQL input into the document of a resource. It respells enum values, turns selectors into objects, and drops nulls. Unknown
 * members stay in the document, so that `parseSpec` reports them.
 */
export function documentOf({ namespace, name, labels, ...fields }: PropagationInput): RequestedPropagation {
  const problems: SpecProblem[] = [];
  const document = translate(parseJson(JSON.stringify(fields)), spec, { to: 'document', path: '', problems });
  return {
    namespace,
    name,
    ...(labels === undefined || labels === null ? {} : { labels }),
    document: isJsonObject(document) ? document : {},
    problems,
  };
}

/** The parts of a Propagation that its GraphQL input has too. */
export interface PropagationSource extends Pick<Propagation, 'spec' | 'document'> {
  readonly metadata: Pick<PropagationMetadata, 'namespace' | 'name' | 'labels'>;
}

/** Turns a resource into a `PropagationInput`, the reverse of `documentOf`: `documentOf` turns the result into an equal document. */
export function inputOf({ metadata, spec: read, document }: PropagationSource): Json {
  const { requester, ...rest } = 'problems' in read ? document : printSpec(read);
  const { namespace, name, labels } = metadata;
  const fields = translate(rest, spec, { to: 'input', path: '', problems: [] });
  return { namespace, name, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...(isJsonObject(fields) ? fields : {}) };
}

/** Reads a `DeletionInput` of the GraphQL schema. Returns the deletion, or the problems of the input. */
export function readDeletion(input: JsonObject): { readonly deletion: DeletionSpec } | { readonly problems: readonly SpecProblem[] } {
  const document = translate(parseJson(JSON.stringify(input)), deletion, { to: 'document', path: '', problems: [] });
  const read = readDocument(deletion, document ?? {}, { path: 'deletion' });
  return 'problems' in read ? read : { deletion: read.value };
}

interface Translation {
  readonly to: 'document' | 'input';
  readonly path: string;
  readonly problems: SpecProblem[];
}

/**
 * Respells a value for documents or for inputs. Null becomes undefined, so the member is left out. Members without a definition stay
 * unchanged.
 */
function translate(value: Json, schema: z.core.$ZodType, at: Translation): Json | undefined {
  if (value === null) return undefined;
  const part = innermostSchemaOf(schema);
  if (part === innermostSchemaOf(labelSelector)) return at.to === 'document' ? selectorIn(value, at) : selectorText(value);
  const { def } = part._zod;
  if (def.type === 'enum' && graphqlHintsOf(schema).isSpelledSame !== true) {
    if (at.to === 'input') return typeof value === 'string' ? schemaSpelling(value) : value;
    return Object.keys(def.entries).find((known) => schemaSpelling(known) === value) ?? value;
  }
  if (def.type === 'array' && Array.isArray(value)) {
    return value.map((member: Json, index) => translate(member, def.element, { ...at, path: `${at.path}[${index}]` }) ?? null);
  }
  if (def.type !== 'object' || !isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member = null]): readonly [string, Json | undefined] => {
    const field = Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
    const path = at.path === '' ? name : `${at.path}.${name}`;
    return [name, field === undefined ? (member ?? undefined) : translate(member, field, { ...at, path })];
  });
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

function selectorText(value: Json): Json {
  const read = readDocument(labelSelector, value);
  return 'problems' in read ? value : printLabelSelector(read.value);
}

function selectorIn(value: Json, { path, problems }: Translation): Json | undefined {
  if (typeof value !== 'string') return value;
  try {
    const document = selectorDocument(parseLabelSelector(value));
    if (document === undefined) problems.push({ path, message: 'expected a selector without < and >, which no resource can say' });
    return document;
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    problems.push({ path, message: error.message });
    return undefined;
  }
}
