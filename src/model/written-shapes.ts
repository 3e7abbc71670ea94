import { embeddedObjectMeta } from './hand-written-types.ts';
import { json, type Shape } from './shapes.ts';

/** Definitions whose schema says less than their name, or whose types are written by hand. By the end of the name: the front has moved before. */
const written: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['api.resource.Quantity', { scalar: 'Quantity' }],
  ['util.intstr.IntOrString', { scalar: 'IntOrString' }],
  ['meta.v1.Time', { scalar: 'DateTime' }],
  ['meta.v1.MicroTime', { scalar: 'DateTime' }],
  ['meta.v1.Duration', { scalar: 'Duration' }],
  ['meta.v1.FieldsV1', json],
  ['pkg.runtime.RawExtension', json],
  // The only one that contains itself, and the only one with names that GraphQL cannot write.
  ['apiextensions.v1.JSONSchemaProps', json],
  ['meta.v1.ObjectMeta', { type: embeddedObjectMeta.name }],
]);

/** The shape of a definition that is not to be read from its schema. Undefined for all others. */
export function writtenShapeOf(definition: string): Shape | undefined {
  return written.get(definition.split('.').slice(-3).join('.'));
}
