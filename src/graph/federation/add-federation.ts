import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { MusterError } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import { keyOfKind } from '../../core/kinds.ts';
import { clusterOfId, objectOfId, propagationOfId } from '../../core/object-ids.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { ClusterView, Row } from '../../load/reads/reads.ts';
import type { Model } from '../../model/model.ts';
import type { PropagationView } from '../../propagate/model/propagations.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { ObjectRefOf } from '../builder/pothos.ts';
import { anything } from '../builder/scalars.ts';
import { type GraphContext, rowOrFaults } from '../context/context.ts';
import { federationNames, subgraphSdl } from './subgraph-sdl.ts';

/** Maximum number of representations in one call of `_entities`. */
const maxRepresentations = 500;

/** A value of the union `_Entity`. */
type Entity = Row | ClusterView | PropagationView;

/** One element of `representations`, after its check. */
interface Representation {
  readonly type: string;
  readonly id: string;
}

/**
 * Adds the fields that a router of Apollo Federation requires of a subgraph: `_service` and `_entities`. Each kind, `Cluster` and `Propagation` is an
 * entity with the key `id`. Call it after all these types exist, because the union `_Entity` lists them.
 *
 * Source: the subgraph specification of Apollo Federation.
 */
export function addFederation({ pothos, types, kinds, model }: GraphBuilder, propagation: ObjectRefOf<PropagationView>): void {
  const entity = pothos.unionType(federationNames.entity, {
    description: 'The types that other subgraphs may extend.',
    types: [...kinds.values(), types.cluster, propagation],
    resolveType: (value) => typeNameOf(value as Entity),
  });
  const representation = pothos.scalarType(federationNames.any, {
    description: 'A representation of an entity: an object with `__typename` and `id`.',
    ...anything,
  });
  const service = pothos.objectRef<object>(federationNames.serviceType).implement({
    description: 'The schema of this gateway as a subgraph.',
    fields: (t) => ({
      sdl: t.string({
        nullable: false,
        description: 'The schema with the directives of Apollo Federation. It follows the custom kinds of the clusters.',
        resolve: (_service, _args, context, { schema }) => sdlOf(schema, context),
      }),
    }),
  });
  pothos.queryFields((t) => ({
    [federationNames.service]: t.field({
      type: service,
      nullable: false,
      description: 'The schema of this gateway as a subgraph of Apollo Federation.',
      resolve: () => ({}),
    }),
    [federationNames.entities]: t.field({
      type: [entity],
      nullable: { list: false, items: true },
      description: `The entities of these representations, in their order. Null for one that does not exist. At most ${maxRepresentations}.`,
      args: { representations: t.arg({ type: [representation], required: true, description: 'The entities that are wanted.' }) },
      resolve: (_root, { representations }, context, info) => readEntities(representations as readonly Json[], { model, context, info }),
    }),
  }));
}

function typeNameOf(value: Entity): string {
  if ('propagation' in value) return 'Propagation';
  return 'object' in value ? value.kind.type : 'Cluster';
}

/** The printed text of each schema. A schema never changes (a new model makes a new one), so its text stays valid. */
const printedSchemas = new WeakMap<GraphQLSchema, string>();

function sdlOf(schema: GraphQLSchema, { budget, read }: GraphContext): PromiseOrValue<string> {
  const finish = (text: string) => {
    printedSchemas.set(schema, text);
    return budget.text(text);
  };
  const printed = printedSchemas.get(schema) ?? read.timeSlices.run(subgraphSdl(schema));
  return typeof printed === 'string' ? finish(printed) : printed.then(finish);
}

interface EntityContext {
  readonly model: Model;
  readonly context: GraphContext;
  readonly info: GraphQLResolveInfo;
}

/**
 * Reads the entities from the mirrors, in the order of `given`. Secrets therefore have metadata only.
 *
 * @throws {MusterError} `BAD_INPUT` for more than 500 representations, or for one without `__typename` and `id`.
 */
function readEntities(given: readonly Json[], reading: EntityContext): readonly Promise<Entity | undefined>[] {
  if (given.length > maxRepresentations)
    throw new MusterError('BAD_INPUT', `representations: expected at most ${maxRepresentations}, got ${given.length}`);
  reading.context.budget.charge(given.length);
  return given.map(representationOf).map((representation) => readEntity(representation, reading));
}

function representationOf(given: Json, index: number): Representation {
  const { __typename: type, id } = isJsonObject(given) ? given : {};
  if (typeof type === 'string' && typeof id === 'string') return { type, id };
  throw new MusterError('BAD_INPUT', `representations[${index}]: expected an object with the texts __typename and id`);
}

/** Reads one entity. Returns undefined if it does not exist, if the caller may not see it, or if the id belongs to another type. */
async function readEntity({ type, id }: Representation, { model, context, info }: EntityContext): Promise<Entity | undefined> {
  const { reads, read, propagations } = context;
  if (type === 'Cluster') {
    const name = clusterOfId(id);
    return name === undefined ? undefined : reads.cluster(read, name);
  }
  if (type === 'Propagation') {
    const wanted = propagationOfId(id);
    const view = wanted && (await propagations.get(read, wanted));
    return view?.propagation.metadata.uid === wanted?.uid ? view : undefined;
  }
  const object = objectOfId(id);
  if (object === undefined || model.kinds.get(keyOfKind(object))?.type !== type) return undefined;
  return rowOrFaults(await reads.getById(read, { model, id, from: 'mirror' }), context, info);
}
