import type { GraphQLSchema } from 'graphql';

/** The current schema of the gateway. An operation takes it once, and keeps it even if the gateway changes its schema meanwhile. */
export interface ServedSchema {
  readonly schema: GraphQLSchema;
  /** A hash of the printed SDL. */
  readonly hash: string;
  sdl(): string;
}
