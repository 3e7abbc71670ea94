import { valueResolver } from '../../execution/known-resolvers.ts';
import { type Column, columnsOf } from '../../model/columns/columns.ts';
import type { KindSource, ModelKind } from '../../model/model.ts';
import { printTypeReference } from '../../model/model.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf } from '../builder/pothos.ts';

/** Adds `Kind`, `KindSource` and `Column`. */
export function addKinds({ pothos, types }: GraphBuilder): void {
  const source = enumsOf(pothos)('KindSource', 'The origin of a kind.', sourceMeanings);
  const column = pothos.objectRef<Column>('Column').implement({
    description: 'A field of a kind that the gateway computes from each object.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false, description: 'The name of the field in this schema, such as `phase`.' }),
      type: t.string({
        nullable: false,
        description: 'The name of the type of the field in this schema, such as `Int`.',
        resolve: valueResolver(({ type, enumeration }) => enumeration?.name ?? printTypeReference(type)),
      }),
      description: t.exposeString('description', { nullable: false, description: 'The description of the field.' }),
    }),
  });
  types.kind.implement({
    description: 'A kind of objects, with its names in Kubernetes and in this schema.',
    fields: (t) => ({
      group: t.exposeString('group', { nullable: false, description: 'The API group of the kind. Empty for the core group.' }),
      kind: t.exposeString('kind', { nullable: false, description: 'The name of the kind in manifests, such as `Deployment`.' }),
      plural: t.exposeString('plural', {
        nullable: false,
        description: 'The plural name of the kind in URL paths and for kubectl, such as `deployments`.',
      }),
      shortNames: t.exposeStringList('shortNames', {
        nullable: false,
        description: 'The short names of the kind for kubectl, such as `deploy`.',
      }),
      categories: t.exposeStringList('categories', {
        nullable: false,
        description: 'The kubectl categories that contain the kind, such as `all`.',
      }),
      namespaced: t.exposeBoolean('namespaced', { nullable: false, description: 'True if objects of the kind belong to a namespace.' }),
      source: t.field({
        type: source,
        nullable: false,
        description: 'The origin of the kind.',
        resolve: valueResolver((kind) => kind.source),
      }),
      type: t.exposeString('type', {
        nullable: false,
        description: 'The name of the type of the kind in this schema, such as `Deployment`.',
      }),
      many: t.exposeString('many', {
        nullable: false,
        description: 'The field of `Query` that lists objects of the kind, such as `deployments`.',
      }),
      one: t.exposeString('one', {
        nullable: false,
        description: 'The field of `Query` that returns one object of the kind, such as `deployment`.',
      }),
      columns: t.field({
        type: [column],
        nullable: false,
        description:
          'The fields that the gateway computes from each object. Paths of filters and orders may begin with them, as with any field.',
        resolve: valueResolver(columnsOf),
      }),
      conflicts: t.exposeStringList('conflicts', {
        nullable: false,
        description: 'The paths of fields that clusters define so differently that their type is `JSON`.',
      }),
    }),
  });
}

/** Returns the deprecation of the root fields of a kind. They are deprecated when no cluster serves the kind any more. */
export function kindDeprecation({ deprecated }: ModelKind): { readonly deprecationReason?: string } {
  return deprecated === undefined ? {} : { deprecationReason: deprecated };
}

const sourceMeanings: Readonly<Record<KindSource, string>> = {
  BUILT_IN: 'Kubernetes itself defines the kind.',
  CUSTOM: 'A CustomResourceDefinition defines the kind.',
  AGGREGATED: 'An aggregated API server serves the kind, such as metrics-server.',
};
