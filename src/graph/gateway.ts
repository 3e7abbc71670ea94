import type { GraphBuilder } from './builder.ts';
import { isoOf } from './times.ts';

/** Adds `Gateway`. */
export function addGateway({ types }: GraphBuilder): void {
  types.gateway.implement({
    description: 'The gateway that answers.',
    fields: (t) => ({
      version: t.exposeString('version', { nullable: false, description: 'Its version.' }),
      demo: t.exposeBoolean('demo', { nullable: false, description: 'True if its clusters are embedded ones, for trying it out.' }),
      schemaHash: t.exposeString('schemaHash', { nullable: false, description: 'Equal for equal schemas, of whichever gateway.' }),
      schemaBuiltAt: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'When this schema began to serve.',
        resolve: ({ schemaBuiltAtMs }) => isoOf(schemaBuiltAtMs) ?? '',
      }),
      schemaProblem: t.exposeString('schemaProblem', {
        nullable: true,
        description: 'Why kinds are missing from this schema, or null if all is well.',
      }),
      controllerProblem: t.exposeString('controllerProblem', {
        nullable: true,
        description: 'Why no gateway has kept Propagations in sync for more than 30 seconds, or null if one does. Also null without a hub.',
      }),
    }),
  });
}
