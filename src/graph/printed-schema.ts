import { createHash } from 'node:crypto';
import { type GraphQLSchema, isIntrospectionType, isSpecifiedDirective, isSpecifiedScalarType, printDirective, printType } from 'graphql';
import type { Steps } from '../core/slices.ts';

/** A schema as text. The text is kept once, type by type. */
export interface PrintedSchema {
  /** The text of each type, by its name. Introspection types and the five scalars of GraphQL itself are left out. */
  readonly types: ReadonlyMap<string, string>;
  /** Hash of the whole text: 32 hexadecimal digits. */
  readonly hash: string;
  /** The whole text, as `printSchema` returns it, and a line break. */
  text(): string;
}

/** Prints a schema, one type in each step. Its root types must be called `Query`, `Mutation` and `Subscription`. */
export function* printInSteps(schema: GraphQLSchema): Steps<PrintedSchema> {
  const directives = schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
  const parts = directives.map(printDirective);
  const types = new Map<string, string>();
  const hash = createHash('sha256').update(parts.join('\n\n'));
  for (const type of Object.values(schema.getTypeMap())) {
    if (isSpecifiedScalarType(type) || isIntrospectionType(type)) continue;
    const text = printType(type);
    hash.update(parts.length === 0 ? text : `\n\n${text}`);
    parts.push(text);
    types.set(type.name, text);
    yield;
  }
  return { types, hash: hash.update('\n').digest('hex').slice(0, 32), text: () => `${parts.join('\n\n')}\n` };
}
