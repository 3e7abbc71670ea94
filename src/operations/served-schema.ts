import type { GraphQLSchema } from 'graphql';

/**
 * The current schema of the gateway. An operation reads the schema once, and keeps this schema even if the gateway gets another one
 * meanwhile.
 */
export interface ServedSchema {
  readonly schema: GraphQLSchema;
  /** A hash of the printed SDL. */
  readonly hash: string;
  sdl(): string;
}
