import type { JsonObject } from '../../core/json.ts';
import type { SpecProblem } from '../propagation.ts';
import type { PropagationSpec } from '../spec.ts';
import { ending, spec } from './spec-codec.ts';

/**
 * The spec that a document says, with its defaults; or all that is wrong with it, each with the path of its field (propagation.md 2.1). The document
 * is checked as if nobody had before: anybody may write a resource. Never throws.
 */
export function parseSpec(document: JsonObject): PropagationSpec | { readonly problems: readonly SpecProblem[] } {
  const problems: SpecProblem[] = [];
  const read = spec.read(document, { path: '', problems });
  return read === undefined ? { problems } : read;
}

/** How copies go, and with whose rights. */
export type EndingParts = Pick<PropagationSpec, 'deletion' | 'runAs' | 'requester'>;

/** What a document says of its end, whatever is wrong with the rest of it: only what stands there, without defaults; or what is wrong with that. Never throws. */
export function parseEnding(document: JsonObject): Partial<EndingParts> | { readonly problems: readonly SpecProblem[] } {
  const problems: SpecProblem[] = [];
  const { deletion = null, runAs = null, requester = null } = document;
  const read = ending.read({ deletion, runAs, requester }, { path: '', problems });
  return read === undefined ? { problems } : read;
}
