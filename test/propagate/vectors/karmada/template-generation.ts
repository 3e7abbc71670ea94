import { MusterError } from '../../../../src/core/errors.ts';
import type { JsonObject } from '../../../../src/core/json.ts';
import { textAt } from '../../../../src/core/json-at.ts';

/**
 * Returns the generation of the template from which Karmada wrote an object, from its annotation.
 *
 * @throws {MusterError} `BAD_INPUT` if the annotation is missing or not a number.
 */
export function templateGenerationOf(object: JsonObject): number {
  const text = textAt(object, 'metadata', 'annotations', 'resourcetemplate.karmada.io/generation') ?? '';
  if (/^[-+]?\d{1,18}$/.test(text)) return Number(text);
  throw new MusterError(
    'BAD_INPUT',
    `expected a number in annotation resourcetemplate.karmada.io/generation, got ${JSON.stringify(text.slice(0, 80))}`,
  );
}
