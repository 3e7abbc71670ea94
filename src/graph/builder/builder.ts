import SchemaBuilder, { ListRef } from '@pothos/core';
import { defaultFieldResolver, type GraphQLFieldResolver } from 'graphql';
import { invariant } from '../../core/errors.ts';
import type { ApiStatus, Fault } from '../../core/faults.ts';
import type { Json } from '../../core/json.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { ClusterView, ListPage, OrderByInput, Row, ServedKindView, SyncView, WhereInput } from '../../load/reads/reads.ts';
import type { Model, ModelKind, ModelType, TypeReference } from '../../model/model.ts';
import type { ChangesMessage } from '../../streams/messages/changes-message.ts';
import type { GatewayView, GraphContext } from '../context/context.ts';
import type { AnyOutput, GraphTypes, Pothos, Types } from './pothos.ts';
import { addScalars } from './scalars.ts';
import { typesWithReferences, type ValueInRow } from './value-in-row.ts';

type UnfinishedRefOf<T> = PothosSchemaTypes.ImplementableObjectRef<Types, T>;

/** An item of a connection, with the page that makes its cursor. */
export interface EdgeView {
  readonly row: Row;
  readonly listed: ListPage;
}

/** The position of a page in its list. Cursors are created when they are read. */
export interface PageView {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor?: string | undefined;
  readonly endCursor?: string | undefined;
}

/** A fault in an answer. */
export interface FaultView extends Fault {
  /** The cluster of the fault as it was when the answer was created. Default: the cluster as the caller sees it when the field is read. */
  readonly clusterView?: ClusterView;
}

/** The types that are written by hand, with the values from which their fields are resolved. The module with the name of a type adds its fields. */
type HandWritten = ReturnType<typeof handWrittenOf>;

/** A schema that is being built. Each rebuild uses a new one. */
export interface GraphBuilder {
  readonly pothos: Pothos;
  readonly model: Model;
  readonly types: HandWritten;
  /** The types of the model by name, with those that hand-written types refer to. */
  readonly modelTypes: ReadonlyMap<string, ModelType>;
  /** The types of the model that are kinds, by name. */
  readonly kinds: ReadonlyMap<string, UnfinishedRefOf<Row>>;
  /** The other types of the model, by name. */
  readonly partTypes: ReadonlyMap<string, UnfinishedRefOf<unknown>>;
  /** The names of types that contain references to objects, at any depth. Their fields are resolved from `ValueInRow`. */
  readonly referenceTypes: ReadonlySet<string>;
  /** True for the kinds that implement `PodOwner`. */
  isPodOwner(kind: GroupKind): boolean;
  /**
   * Returns the GraphQL type of a field of the model.
   *
   * @throws {InvariantError} if the model refers to a type that it does not have.
   */
  outputOf(reference: TypeReference): AnyOutput;
}

/**
 * Creates a builder for a schema of these kinds. The builder has the scalars with their functions, and all other types still without
 * fields.
 */
export function createGraphBuilder(model: Model): GraphBuilder {
  const pothos: Pothos = new SchemaBuilder<GraphTypes>({});
  const scalars = addScalars(pothos);
  const types = handWrittenOf(pothos);
  const kinds = new Map([...model.kinds.values()].map(({ type }) => [type, pothos.objectRef<Row>(type)]));
  const modelTypes = new Map([[taint.name, taint], [condition.name, condition], ...model.types]);
  const names = [...modelTypes.keys()].filter((name) => !kinds.has(name));
  const parts = new Map(names.map((name) => [name, pothos.objectRef<unknown>(name)]));
  const byHand = new Map<string, AnyOutput>([types.objectMeta, types.ownerReference, types.resourceList].map((type) => [type.name, type]));
  function outputOf(reference: TypeReference): AnyOutput {
    if ('list' in reference) return new ListRef<Types, unknown>(outputOf(reference.list), false);
    const found = 'scalar' in reference ? scalars.get(reference.scalar) : (byHand.get(reference.type) ?? parts.get(reference.type));
    invariant(found !== undefined, `the model refers to ${JSON.stringify(reference)}, which is not among its types`);
    return found;
  }
  return {
    pothos,
    model,
    modelTypes,
    types,
    kinds,
    partTypes: parts,
    referenceTypes: typesWithReferences(modelTypes),
    isPodOwner: (kind) => model.kinds.has('Pod') && podOwners.has(keyOfKind(kind)),
    outputOf,
  };
}

const podOwners: ReadonlySet<string> = new Set(['Deployment.apps', 'ReplicaSet.apps', 'StatefulSet.apps', 'DaemonSet.apps', 'Job.batch']);

/** The type of `Cluster.taints`, for models without Nodes. Other models have this type already, for the taints of a Node. */
const taint: ModelType = {
  name: 'Taint',
  description: 'A taint keeps work away that does not tolerate it: Pods from a Node, copies of Propagations from a cluster.',
  fields: ['effect', 'key', 'value'].map((name) => ({ name, key: name, type: { scalar: 'String' } })),
};

/**
 * The type of `Propagation.conditions`, for the few models that lack it. Other models have this type already, for the conditions of
 * objects.
 */
const condition: ModelType = {
  name: 'Condition',
  description: 'One aspect of the state of an object, with the status `True`, `False` or `Unknown`.',
  fields: ['lastTransitionTime', 'message', 'reason', 'status', 'type'].map((name) => ({
    name,
    key: name,
    type: { scalar: name === 'lastTransitionTime' ? 'DateTime' : 'String' },
  })),
};

/** Reads the property with the name of the field. This is what graphql-js does for fields without a resolver, at the same cost. */
export const asServed: GraphQLFieldResolver<unknown, GraphContext> = defaultFieldResolver;

function handWrittenOf(pothos: Pothos) {
  return {
    resource: pothos.interfaceRef<Row>('Resource'),
    podOwner: pothos.interfaceRef<Row>('PodOwner'),
    objectMeta: pothos.objectRef<Row>('ObjectMeta'),
    ownerReference: pothos.objectRef<ValueInRow>('OwnerReference'),
    resourceList: pothos.objectRef<Readonly<Record<string, Json>>>('ResourceList'),
    cluster: pothos.objectRef<ClusterView>('Cluster'),
    servedKind: pothos.objectRef<ServedKindView>('ServedKind'),
    kind: pothos.objectRef<ModelKind>('Kind'),
    gateway: pothos.objectRef<GatewayView>('Gateway'),
    sync: pothos.objectRef<SyncView>('Sync'),
    fault: pothos.objectRef<FaultView>('Fault'),
    apiError: pothos.objectRef<ApiStatus>('ApiError'),
    apiErrorCause: pothos.objectRef<ApiStatus['causes'][number]>('ApiErrorCause'),
    connection: pothos.interfaceRef<ListPage>('Connection'),
    pageInfo: pothos.objectRef<PageView>('PageInfo'),
    changes: pothos.interfaceRef<ChangesMessage>('Changes'),
    where: pothos.inputRef<WhereInput>('Where'),
    orderBy: pothos.inputRef<OrderByInput>('OrderBy'),
  };
}
