import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import type { ErrorCode } from '../../core/errors.ts';

/** The limits of a document, for every caller and schema. */
export const documentLimits = {
  /** Lexical tokens, without comments. This is an option of `parse`, so that no larger document is ever built. */
  tokens: 2_000,
  /** Nested fields. Fragments are no levels. graphql-js has its own rule for fields below `__schema` and `__type`. */
  depth: 12,
  /** Fields with an alias. Those in fragments count at each spread. */
  aliases: 30,
  /** Directives. Those in fragments count at each spread. */
  directives: 50,
  /** Different response names at the root, without `__typename`. */
  rootFields: 10,
  /** Different response names at the root of a mutation. These fields run one after the other. */
  mutationFields: 5,
} as const;

/**
 * Checks each operation of a document against `documentLimits`. Run these rules before all others, because the time of some standard rules
 * grows faster than the length of the document. These rules refuse with `TOO_COSTLY`: the document is valid, but too large.
 *
 * The time is bounded by the length of the document, even if fragments multiply.
 */
export const limitRules: readonly ValidationRule[] = [DepthLimitRule, AliasLimitRule, DirectiveLimitRule, RootFieldLimitRule];

/** Refuses fields that are nested too deeply. */
function DepthLimitRule(context: ValidationContext): ASTVisitor {
  return refuseAbove(context, 'depth', 'levels of fields');
}

/** Refuses too many aliases. */
function AliasLimitRule(context: ValidationContext): ASTVisitor {
  return refuseAbove(context, 'aliases', 'aliases');
}

/** Refuses too many directives. */
function DirectiveLimitRule(context: ValidationContext): ASTVisitor {
  return refuseAbove(context, 'directives', 'directives');
}

/** Refuses too many fields at the root. */
function RootFieldLimitRule(context: ValidationContext): ASTVisitor {
  return refuseAbove(context, 'rootFields', 'fields at the root');
}

interface DocumentExtent {
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
}

interface OperationExtent extends DocumentExtent {
  readonly operation: OperationDefinitionNode;
  readonly rootFields: number;
}

const code: ErrorCode = 'TOO_COSTLY';
const nothing: DocumentExtent = { depth: 0, aliases: 0, directives: 0 };
// The extents (depth, aliases, directives) of the operations of each document. Cached, because four rules need them.
const measured = new WeakMap<DocumentNode, readonly OperationExtent[]>();

function refuseAbove(context: ValidationContext, what: keyof Omit<OperationExtent, 'operation'>, words: string): ASTVisitor {
  return {
    Document(document) {
      for (const extent of extentsOf(document)) {
        const limit = limitOf(what, extent.operation);
        if (extent[what] <= limit) continue;
        const message = `expected at most ${limit} ${words}, got ${extent[what]}`;
        context.reportError(new GraphQLError(message, { nodes: extent.operation, extensions: { code } }));
      }
      return false;
    },
  };
}

function limitOf(what: keyof Omit<OperationExtent, 'operation'>, { operation }: OperationDefinitionNode): number {
  return what === 'rootFields' && operation === OperationTypeNode.MUTATION ? documentLimits.mutationFields : documentLimits[what];
}

function extentsOf(document: DocumentNode): readonly OperationExtent[] {
  const known = measured.get(document);
  if (known !== undefined) return known;
  const fragments = new Map(
    document.definitions
      .filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );
  const measure = createMeasure(fragments);
  const operations = document.definitions.filter((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION);
  const extents = operations.map((operation) => ({
    ...measure(operation),
    operation,
    rootFields: rootNamesOf(operation.selectionSet, fragments, new Set()).size,
  }));
  measured.set(document, extents);
  return extents;
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;
type MeasuredDefinition = OperationDefinitionNode | FragmentDefinitionNode;

/**
 * Returns a function that measures an operation or a fragment. Each fragment is measured once, however often it is spread. Measuring again
 * at each spread would take minutes for a chain of 22 fragments that each spread the next one twice.
 */
function createMeasure(fragments: Fragments): (node: MeasuredDefinition) => DocumentExtent {
  const known = new Map<string, DocumentExtent>();

  function measureDefinition(node: MeasuredDefinition): DocumentExtent {
    const inside = measureSelections(node.selectionSet);
    const own = node.kind === Kind.OPERATION_DEFINITION ? (node.variableDefinitions ?? []) : [];
    const directives = countDirectives(node) + own.reduce((sum, variable) => sum + countDirectives(variable), 0);
    return { ...inside, directives: inside.directives + directives };
  }

  function measureFragment(name: string): DocumentExtent {
    const extent = known.get(name);
    if (extent !== undefined) return extent;
    const fragment = fragments.get(name);
    // A fragment that spreads itself is refused by the standard rules. Here the recursion only has to end.
    known.set(name, nothing);
    const found = fragment === undefined ? nothing : measureDefinition(fragment);
    known.set(name, found);
    return found;
  }

  function measureField(field: FieldNode): DocumentExtent {
    const inside = field.selectionSet === undefined ? nothing : measureSelections(field.selectionSet);
    const introspection = field.name.value.startsWith('__');
    return { ...inside, depth: 1 + (introspection ? 0 : inside.depth), aliases: inside.aliases + (field.alias === undefined ? 0 : 1) };
  }

  function measureSelections({ selections }: SelectionSetNode): DocumentExtent {
    return selections.reduce((sum, node) => {
      const extent =
        node.kind === Kind.FIELD
          ? measureField(node)
          : node.kind === Kind.FRAGMENT_SPREAD
            ? measureFragment(node.name.value)
            : measureSelections(node.selectionSet);
      return {
        depth: Math.max(sum.depth, extent.depth),
        aliases: sum.aliases + extent.aliases,
        directives: sum.directives + extent.directives + countDirectives(node),
      };
    }, nothing);
  }

  return measureDefinition;
}

/** Returns the response names at the root. Each fragment counts once, as in execution. */
function rootNamesOf({ selections }: SelectionSetNode, fragments: Fragments, seen: Set<string>): Set<string> {
  const names = new Set<string>();
  for (const node of selections) {
    if (node.kind === Kind.FIELD) {
      if (node.name.value !== '__typename') names.add(node.alias?.value ?? node.name.value);
      continue;
    }
    const inside = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
    if (inside === undefined || (node.kind === Kind.FRAGMENT_SPREAD && seen.has(node.name.value))) continue;
    if (node.kind === Kind.FRAGMENT_SPREAD) seen.add(node.name.value);
    for (const name of rootNamesOf(inside.selectionSet, fragments, seen)) names.add(name);
  }
  return names;
}

function countDirectives({ directives }: { readonly directives?: readonly unknown[] | undefined }): number {
  return directives?.length ?? 0;
}
