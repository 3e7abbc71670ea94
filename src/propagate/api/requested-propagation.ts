import { readDocument } from '../../core/json/documents.ts';
import { labels as labelMap } from '../../core/json/field-definitions.ts';
import { isSubdomain } from '../../core/selectors.ts';
import { documentOf } from '../model/input-spec.ts';
import type { Note } from '../model/notes.ts';
import type { PropagationInput, PropagationName } from '../model/propagations.ts';
import { type PropagationSpec, parseSpec, type Requester, type SpecProblem } from '../model/spec.ts';

/** What an input asks for, checked; or all that is wrong with it. */
export type InputResult =
  | {
      readonly result: 'valid';
      readonly place: PropagationName;
      /** Absent: nothing was said of them. */
      readonly labels: Readonly<Record<string, string>> | undefined;
      readonly spec: PropagationSpec;
    }
  | { readonly result: 'invalid'; readonly notes: readonly Note[] };

/** The input as what it asks for, by that requester. */
export function readPropagationInput(input: PropagationInput, requester: Requester): InputResult {
  const { namespace, name, labels, document, problems: untold } = documentOf(input);
  const problems: SpecProblem[] = [...untold];
  if (!isSubdomain(name)) problems.push({ path: 'name', message: 'expected lower-case letters, digits, - and ., at most 253' });
  if (!isSubdomain(namespace) || namespace.length > 63) problems.push({ path: 'namespace', message: 'expected the name of a namespace' });
  const labelled = readDocument(labelMap, labels ?? {}, { path: 'labels' });
  // One by one: as arguments of one call they may be too many.
  if ('problems' in labelled) for (const problem of labelled.problems) problems.push(problem);
  const { requester: _, ...said } = document;
  const isForged = Object.hasOwn(document, 'requester');
  if (isForged) problems.push({ path: 'requester', message: 'is set by the gateway' });
  const spec = parseSpec(said);
  if ('problems' in spec) for (const problem of spec.problems) problems.push(problem);
  if (problems.length > 0 || 'problems' in spec) return { result: 'invalid', notes: problems.map(inputNoteOf) };
  return { result: 'valid', place: { namespace, name }, labels, spec: { ...spec, requester } };
}

/** A problem of the input as a note. */
export function inputNoteOf({ path, message }: SpecProblem): Note {
  return { severity: 'ERROR', code: 'INVALID', message, ...(path === '' ? {} : { path }) };
}
