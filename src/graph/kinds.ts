import { type Column, columnsOf } from '../model/columns/columns.ts';
import type { KindSource, ModelKind } from '../model/model.ts';
import { printTypeReference } from '../model/paths.ts';
import type { GraphBuilder } from './builder.ts';
import { enumsOf } from './faults.ts';

/** Adds `Kind`, `KindSource` and `Column`. */
export function addKinds({ pothos, types }: GraphBuilder): void {
  const source = enumsOf(pothos)('KindSource', 'Where a kind comes from.', sourceMeanings);
  const column = pothos.objectRef<Column>('Column').implement({
    description: 'A field that is computed from each object of a kind.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false, description: 'Its name in this schema, such as `phase`.' }),
      type: t.string({
        nullable: false,
        description: 'The name of its type in this schema, such as `Int`.',
        resolve: ({ type, enumeration }) => enumeration?.name ?? printTypeReference(type),
      }),
      description: t.exposeString('description', { nullable: false, description: 'What it says.' }),
    }),
  });
  types.kind.implement({
    description: 'A kind of object, and what it is called in this schema.',
    fields: (t) => ({
      group: t.exposeString('group', { nullable: false, description: 'Its API group; empty for the core group.' }),
      kind: t.exposeString('kind', { nullable: false, description: 'Its name in manifests, such as `Deployment`.' }),
      plural: t.exposeString('plural', { nullable: false, description: 'Its name in paths and for kubectl, such as `deployments`.' }),
      shortNames: t.exposeStringList('shortNames', { nullable: false, description: 'Its short names for kubectl, such as `deploy`.' }),
      categories: t.exposeStringList('categories', {
        nullable: false,
        description: 'The groups of kinds it is listed with, such as `all`.',
      }),
      namespaced: t.exposeBoolean('namespaced', { nullable: false, description: 'True if its objects live in namespaces.' }),
      source: t.field({ type: source, nullable: false, description: 'Where it comes from.', resolve: (kind) => kind.source }),
      type: t.exposeString('type', { nullable: false, description: 'Its type in this schema, such as `Deployment`.' }),
      many: t.exposeString('many', { nullable: false, description: 'The field of `Query` that lists it, such as `deployments`.' }),
      one: t.exposeString('one', { nullable: false, description: 'The field of `Query` that gets one, such as `deployment`.' }),
      columns: t.field({
        type: [column],
        nullable: false,
        description: 'Its fields that are computed from each object: paths may begin with them as with any other.',
        resolve: columnsOf,
      }),
      conflicts: t.exposeStringList('conflicts', {
        nullable: false,
        description: 'Paths that clusters define so differently that they became `JSON`.',
      }),
    }),
  });
}

/** For the fields that stand for a kind: deprecated once nobody serves it. */
export function deprecationOf({ deprecated }: ModelKind): { readonly deprecationReason?: string } {
  return deprecated === undefined ? {} : { deprecationReason: deprecated };
}

const sourceMeanings: Readonly<Record<KindSource, string>> = {
  BUILT_IN: 'Kubernetes itself.',
  CUSTOM: 'A CustomResourceDefinition.',
  AGGREGATED: 'An API server behind the API server.',
};
