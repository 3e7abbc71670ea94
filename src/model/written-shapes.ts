import { embeddedObjectMeta } from './hand-written-types.ts';
import { json, type Shape } from './shapes.ts';

/**
 * The shapes of definitions whose schema is not read: their names are more exact than their schemas, or their types are written by hand. Keys are
 * the last three segments of a name, because earlier releases had other first segments.
 */
const written: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['api.resource.Quantity', { scalar: 'Quantity' }],
  ['util.intstr.IntOrString', { scalar: 'IntOrString' }],
  ['meta.v1.Time', { scalar: 'DateTime' }],
  ['meta.v1.MicroTime', { scalar: 'DateTime' }],
  ['meta.v1.Duration', { scalar: 'Duration' }],
  ['meta.v1.FieldsV1', json],
  ['pkg.runtime.RawExtension', json],
  // The only definition that contains itself, and the only one with keys that are illegal in GraphQL.
  ['apiextensions.v1.JSONSchemaProps', json],
  ['meta.v1.ObjectMeta', { type: embeddedObjectMeta.name }],
]);

/** Returns the shape of a definition whose schema is not read. Undefined for all others. */
export function writtenShapeOf(definition: string): Shape | undefined {
  return written.get(definition.split('.').slice(-3).join('.'));
}
