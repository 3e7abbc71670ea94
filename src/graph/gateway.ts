import type { GraphBuilder } from './builder.ts';
import { isoOf } from './times.ts';

/** Adds `Gateway`. */
export function addGateway({ types }: GraphBuilder): void {
  types.gateway.implement({
    description: 'The gateway that answers this request.',
    fields: (t) => ({
      version: t.exposeString('version', { nullable: false, description: 'The version of the gateway.' }),
      demo: t.exposeBoolean('demo', { nullable: false, description: 'True if the clusters are the embedded ones of the demo.' }),
      schemaHash: t.exposeString('schemaHash', {
        nullable: false,
        description: 'A hash of this schema. Gateways with equal schemas have equal hashes.',
      }),
      schemaBuiltAt: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'The time at which the gateway began to use this schema.',
        resolve: ({ schemaBuiltAtMs }) => isoOf(schemaBuiltAtMs) ?? '',
      }),
      schemaProblem: t.exposeString('schemaProblem', {
        nullable: true,
        description: 'The reason why kinds are missing from this schema. Null if none are missing.',
      }),
      controllerProblem: t.exposeString('controllerProblem', {
        nullable: true,
        description:
          'The reason why no gateway has kept Propagations in sync for more than 30 seconds. Null if a gateway does, and null without a hub.',
      }),
    }),
  });
}
