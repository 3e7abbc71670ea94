import {
  type GraphQLNamedType,
  GraphQLObjectType,
  type GraphQLSchema,
  isIntrospectionType,
  isSpecifiedScalarType,
  isUnionType,
  printType,
} from 'graphql';
import type { Steps } from '../../core/scheduling/operation-scheduler.ts';

/** The names that `addFederation` adds to the schema. */
export const federationNames = {
  service: '_service',
  entities: '_entities',
  serviceType: '_Service',
  entity: '_Entity',
  any: '_Any',
} as const;

/** The first line of the text. 2.3 is the oldest version of Apollo Federation that has all the directives in the text. */
const link = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

/**
 * Prints a schema with the additions of `addFederation` in the form that Apollo's composition reads. Each step prints one type. The text differs from
 * the schema:
 * - it leaves out what `addFederation` added, because routers add these themselves;
 * - each type of `_Entity` has `@key(fields: "id")`, so that other subgraphs can add fields to it;
 * - `PageInfo` has `@shareable`, because other subgraphs with Relay connections have the same type;
 * - inputs have no `@oneOf`, which composition 2.14 refuses. The gateway itself still checks such inputs.
 *
 * Source: the subgraph specification of Apollo Federation.
 */
export function* subgraphSdl(schema: GraphQLSchema): Steps<string> {
  const entity = schema.getType(federationNames.entity);
  const entities = new Set(isUnionType(entity) ? entity.getTypes().map(({ name }) => name) : []);
  const added: ReadonlySet<string> = new Set([federationNames.serviceType, federationNames.entity, federationNames.any]);
  const parts = [link];
  for (const type of Object.values(schema.getTypeMap())) {
    if (isSpecifiedScalarType(type) || isIntrospectionType(type) || added.has(type.name)) continue;
    parts.push(printed(type instanceof GraphQLObjectType && type === schema.getQueryType() ? withoutFederation(type) : type, entities));
    yield;
  }
  return `${parts.join('\n\n')}\n`;
}

function printed(type: GraphQLNamedType, entities: ReadonlySet<string>): string {
  const text = printType(type);
  if (entities.has(type.name)) return withDirective(text, type.name, '@key(fields: "id")');
  if (type.name === 'PageInfo') return withDirective(text, type.name, '@shareable');
  return text.replace(new RegExp(`^input ${type.name} @oneOf `, 'm'), `input ${type.name} `);
}

/** Adds a directive to the line `type NAME … {` of a printed object type. The description above that line stays unchanged. */
function withDirective(text: string, name: string, directive: string): string {
  return text.replace(new RegExp(`^(type ${name}\\b[^{\\n]*) \\{$`, 'm'), `$1 ${directive} {`);
}

function withoutFederation(query: GraphQLObjectType): GraphQLObjectType {
  const { fields, ...config } = query.toConfig();
  const { [federationNames.service]: _service, [federationNames.entities]: _entities, ...rest } = fields;
  return new GraphQLObjectType({ ...config, fields: rest });
}
