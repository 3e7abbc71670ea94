import { readDocument } from '../../core/json/documents.ts';
import { labels as labelMap } from '../../core/json/field-definitions.ts';
import { isSubdomain } from '../../core/selectors.ts';
import { documentOf } from '../model/input-spec.ts';
import type { Note } from '../model/notes.ts';
import type { PropagationInput, PropagationName } from '../model/propagations.ts';
import { type PropagationSpec, parseSpec, type Requester, type SpecProblem } from '../model/spec.ts';

/** The result of reading an input: the requested Propagation, or all problems of the input. */
export type InputResult =
  | {
      readonly result: 'valid';
      readonly name: PropagationName;
      /** Undefined: the input has no labels, so existing labels stay. */
      readonly labels: Readonly<Record<string, string>> | undefined;
      readonly spec: PropagationSpec;
    }
  | { readonly result: 'invalid'; readonly notes: readonly Note[] };

/** Checks an input, and adds the requester to its spec. */
export function readPropagationInput(input: PropagationInput, requester: Requester): InputResult {
  const { namespace, name, labels, document, problems: inputProblems } = documentOf(input);
  const problems: SpecProblem[] = [...inputProblems];
  if (!isSubdomain(name)) problems.push({ path: 'name', message: 'expected lower-case letters, digits, - and ., at most 253' });
  if (!isSubdomain(namespace) || namespace.length > 63) problems.push({ path: 'namespace', message: 'expected the name of a namespace' });
  const labelled = readDocument(labelMap, labels ?? {}, { path: 'labels' });
  // Problems are pushed one by one: a spread into one call could exceed the maximum number of arguments.
  if ('problems' in labelled) for (const problem of labelled.problems) problems.push(problem);
  const { requester: _, ...fields } = document;
  const isForged = Object.hasOwn(document, 'requester');
  if (isForged) problems.push({ path: 'requester', message: 'is set by the gateway' });
  const spec = parseSpec(fields);
  if ('problems' in spec) for (const problem of spec.problems) problems.push(problem);
  if (problems.length > 0 || 'problems' in spec) return { result: 'invalid', notes: problems.map(inputNoteOf) };
  return { result: 'valid', name: { namespace, name }, labels, spec: { ...spec, requester } };
}

/** Returns a problem of the input as an error note. */
export function inputNoteOf({ path, message }: SpecProblem): Note {
  return { severity: 'ERROR', code: 'INVALID', message, ...(path === '' ? {} : { path }) };
}
