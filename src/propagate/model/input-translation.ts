import type { z } from 'zod';
import { MusterError } from '../../core/errors.ts';
import { innermostSchemaOf, readDocument } from '../../core/json/documents.ts';
import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import { graphqlHintsOf } from '../../core/json/field-definitions.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../core/json.ts';
import { parseLabelSelector, printLabelSelector } from '../../core/selectors.ts';
import { labelSelector, selectorDocument } from './cluster-set-definition.ts';
import type { SpecProblem } from './spec.ts';

/**
 * Turns a GraphQL input into a document of this definition. Respells enum values, turns selectors into objects, and drops nulls. Unknown
 * members stay in the document, so that `readDocument` reports them. `problems` has values that no document can hold, such as a selector
 * with `<`.
 */
export function documentOfInput(
  input: object,
  schema: z.core.$ZodType,
): { readonly document: JsonObject; readonly problems: readonly SpecProblem[] } {
  const problems: SpecProblem[] = [];
  const document = translate(parseJson(JSON.stringify(input)), schema, { to: 'document', path: '', problems });
  return { document: isJsonObject(document) ? document : {}, problems };
}

/** Turns a document into a GraphQL input, the reverse of `documentOfInput`. */
export function inputOfDocument(document: JsonObject, schema: z.core.$ZodType): JsonObject {
  const input = translate(document, schema, { to: 'input', path: '', problems: [] });
  return isJsonObject(input) ? input : {};
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
    if (document === undefined) problems.push({ path, message: 'expected a selector without < and >: a resource has no such operator' });
    return document;
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    problems.push({ path, message: error.message });
    return undefined;
  }
}
