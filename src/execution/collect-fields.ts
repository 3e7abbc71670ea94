import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { bails } from './bail.ts';

/** The fields of one selection set, by their key in the answer. A key has several nodes if the document selects it more than once: they are merged. */
export type CollectedFields = ReadonlyMap<string, readonly [FieldNode, ...FieldNode[]]>;

/** The parts of a request on which the collected fields depend. */
export interface CollectionScope {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** The values of the variables in `@skip` and `@include`. */
  readonly conditions: Readonly<Record<string, boolean>>;
}

/** Maximum number of selections that one operation may visit while it is compiled. Fragments can multiply a short document. */
const maxVisited = 5_000;

/**
 * Collects fields by the rules of the GraphQL specification ("CollectFields"), as graphql-js does: for one object type, through all fragments, in the
 * order of their first appearance.
 */
export class FieldCollector {
  readonly #scope: CollectionScope;
  #visited = 0;

  constructor(scope: CollectionScope) {
    this.#scope = scope;
  }

  /**
   * Returns the fields of these selection sets for an object of the type.
   *
   * @throws {Bail} `size` once all calls together have visited more than 5,000 selections.
   */
  collect(type: GraphQLObjectType, sets: readonly (SelectionSetNode | undefined)[]): CollectedFields {
    const collected = new Map<string, [FieldNode, ...FieldNode[]]>();
    const spread = new Set<string>();
    const visit = ({ selections }: SelectionSetNode): void => {
      for (const node of selections) {
        if (++this.#visited > maxVisited) throw bails.size;
        if (!this.#isIncluded(node)) continue;
        if (node.kind === Kind.FIELD) {
          const key = node.alias?.value ?? node.name.value;
          const same = collected.get(key);
          if (same === undefined) collected.set(key, [node]);
          else same.push(node);
          continue;
        }
        if (node.kind === Kind.FRAGMENT_SPREAD && spread.has(node.name.value)) continue;
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : this.#scope.fragments[node.name.value];
        if (fragment === undefined || !this.#applies(fragment.typeCondition?.name.value, type)) continue;
        if (node.kind === Kind.FRAGMENT_SPREAD) spread.add(node.name.value);
        visit(fragment.selectionSet);
      }
    };
    for (const set of sets) if (set !== undefined) visit(set);
    return collected;
  }

  #applies(condition: string | undefined, type: GraphQLObjectType): boolean {
    if (condition === undefined || condition === type.name) return true;
    const named: GraphQLNamedType | undefined = this.#scope.schema.getType(condition);
    return named !== undefined && isAbstractType(named) && this.#scope.schema.isSubType(named, type);
  }

  #isIncluded({ directives = [] }: SelectionNode): boolean {
    return directives.every((directive) => {
      const value = this.#conditionOf(directive);
      return directive.name.value === 'skip' ? !value : value;
    });
  }

  #conditionOf(directive: DirectiveNode): boolean {
    const value = conditionIn(directive);
    return typeof value === 'boolean' ? value : this.#scope.conditions[value] === true;
  }
}

/** Returns the value of the argument `if`, or the name of the variable that has it. */
function conditionIn({ arguments: given = [] }: DirectiveNode): boolean | string {
  const value = given[0]?.value;
  if (value?.kind === Kind.BOOLEAN) return value.value;
  if (value?.kind === Kind.VARIABLE) return value.name.value;
  throw bails.variants;
}

/**
 * Returns the names of the variables in `@skip` and `@include`, in order. Returns undefined if the operation is never compiled: it or a fragment has
 * another directive, or a fragment has variables of its own.
 */
export function conditionVariables(
  operation: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): readonly string[] | undefined {
  const names = new Set<string>();
  const definitions = [operation, ...Object.values(fragments)];
  const isPlain = ({ directives = [], variableDefinitions = [], kind }: (typeof definitions)[number]) =>
    directives.length === 0 && (kind === Kind.OPERATION_DEFINITION || variableDefinitions.length === 0);
  const visit = ({ selections }: SelectionSetNode): boolean =>
    selections.every((node) => {
      if (node.kind === Kind.FRAGMENT_SPREAD && (node.arguments?.length ?? 0) > 0) return false;
      for (const directive of node.directives ?? []) {
        if (directive.name.value !== 'skip' && directive.name.value !== 'include') return false;
        const value = directive.arguments?.[0]?.value;
        if (value?.kind === Kind.VARIABLE) names.add(value.name.value);
      }
      return node.kind === Kind.FRAGMENT_SPREAD || node.selectionSet === undefined || visit(node.selectionSet);
    });
  return definitions.every((definition) => isPlain(definition) && visit(definition.selectionSet)) ? [...names].toSorted() : undefined;
}
