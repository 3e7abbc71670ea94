import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isAbstractType,
  isCompositeType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';

/** Options of a field whose value can change although its object does not. It depends on the clock, or on the state of a cluster or a mirror. */
export const volatile = { extensions: { volatile: true } } as const;

/**
 * Options of a field whose value depends on the caller, beyond the rights that all readers of a stream share. These fields read other objects,
 * so they are volatile too.
 */
export const personal = { extensions: { personal: true, volatile: true } } as const;

type FieldMark = 'personal' | 'volatile';

/**
 * True if callers must not share the messages of this subscription, even with equal rights. Always true for queries, for mutations, and for a
 * document that is not valid for the schema. Cached by document.
 */
export function isPersonal(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): boolean {
  return isMarked('personal', schema, document, operationName);
}

/**
 * True if the answer for one message of this subscription may change from one moment to the next. Always true for queries, for mutations, and
 * for a document that is not valid for the schema. Cached by document.
 */
export function isVolatile(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): boolean {
  return isMarked('volatile', schema, document, operationName);
}

function isMarked(mark: FieldMark, schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return true;
  const known = verdictsOf(schema, mark);
  const kept = known.get(operation);
  if (kept !== undefined) return kept;
  const verdict = reaches(mark, { schema, document, root: operation.selectionSet });
  known.set(operation, verdict);
  return verdict;
}

type Verdicts = WeakMap<object, boolean>;

const verdictsBySchema = { personal: new WeakMap<GraphQLSchema, Verdicts>(), volatile: new WeakMap<GraphQLSchema, Verdicts>() };

function verdictsOf(schema: GraphQLSchema, mark: FieldMark): Verdicts {
  const known = verdictsBySchema[mark].get(schema) ?? new WeakMap();
  verdictsBySchema[mark].set(schema, known);
  return known;
}

interface SearchedOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly root: SelectionSetNode;
}

/** True if a marked field is selected. A field with `@skip` counts as selected, because variables may include it. */
function reaches(mark: FieldMark, { schema, document, root }: SearchedOperation): boolean {
  const fragments = new Map(
    document.definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );

  function inSelections({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined): boolean {
    return selections.some((node) => {
      switch (node.kind) {
        case Kind.FIELD:
          return inField(parent, node.name.value, node.selectionSet);
        case Kind.INLINE_FRAGMENT:
          return inSelections(node.selectionSet, node.typeCondition === undefined ? parent : schema.getType(node.typeCondition.name.value));
        case Kind.FRAGMENT_SPREAD:
          return inFragment(node.name.value);
        default:
          return node satisfies never;
      }
    });
  }

  /**
   * True if the fragment selects a marked field. Each fragment is searched once, however often it is spread. Later calls return false,
   * because the search ends at the first true.
   */
  function inFragment(name: string): boolean {
    const fragment = fragments.get(name);
    if (!fragments.delete(name) || fragment === undefined) return false;
    return inSelections(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value));
  }

  function inField(parent: GraphQLNamedType | undefined, name: string, selections: SelectionSetNode | undefined): boolean {
    if (!isCompositeType(parent)) return true;
    const field = schema.getField(parent, name);
    if (field === undefined) return true;
    const possible = isAbstractType(parent) ? schema.getPossibleTypes(parent) : [];
    if ([parent, ...possible].some((type) => schema.getField(type, name)?.extensions[mark] === true)) return true;
    return selections !== undefined && inSelections(selections, getNamedType(field.type));
  }

  return inSelections(root, schema.getSubscriptionType() ?? undefined);
}
