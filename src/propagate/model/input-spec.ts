import { readDocument } from '../../core/json/documents.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { documentOfInput, inputOfDocument } from './input-translation.ts';
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
  return { namespace, name, ...(labels === undefined || labels === null ? {} : { labels }), ...documentOfInput(fields, spec) };
}

/** The parts of a Propagation that its GraphQL input has too. */
export interface PropagationSource extends Pick<Propagation, 'spec' | 'document'> {
  readonly metadata: Pick<PropagationMetadata, 'namespace' | 'name' | 'labels'>;
}

/** Turns a resource into a `PropagationInput`, the reverse of `documentOf`: `documentOf` turns the result into an equal document. */
export function inputOf({ metadata, spec: read, document }: PropagationSource): Json {
  const { requester, ...rest } = 'problems' in read ? document : printSpec(read);
  const { namespace, name, labels } = metadata;
  return { namespace, name, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...inputOfDocument(rest, spec) };
}

/** Reads a `DeletionInput` of the GraphQL schema. Returns the deletion, or the problems of the input. */
export function readDeletion(input: JsonObject): { readonly deletion: DeletionSpec } | { readonly problems: readonly SpecProblem[] } {
  const read = readDocument(deletion, documentOfInput(input, deletion).document, { path: 'deletion' });
  return 'problems' in read ? read : { deletion: read.value };
}
