import { invariant } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { SpecDocument } from '../plan.ts';
import type { PropagationSpec } from '../spec.ts';
import { spec } from './spec-codec.ts';

/**
 * The document of a spec, in canonical form: without what is a default, and equal for equal specs. `parseSpec` makes an equal spec of it again.
 */
export function printSpec(of: PropagationSpec): SpecDocument {
  const document = spec.print(of);
  invariant(isDocument(document), 'a spec is printed as an object with a template');
  return document;
}

function isDocument(value: Json): value is SpecDocument {
  return isJsonObject(value) && Array.isArray(value.template);
}
