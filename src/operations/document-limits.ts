import { type DocumentNode, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import { MusterError } from '../core/errors.ts';
import { refusalOfCost } from '../graph/context/cost.ts';
import { documentLimits, limitRules } from '../graph/context/limits.ts';
import { refusalOfVariables } from '../graph/context/variables.ts';
import type { OperationPlugin } from './operation.ts';

/**
 * Returns a plugin that bounds the documents of clients. Parsing counts tokens. Validation checks sizes before all other rules.
 *
 * Caches validation results per schema and document. Yoga's own validation cache joins the names of all rules for each request, which takes
 * 3 % of the time of a small request.
 */
export function useDocumentLimits(): OperationPlugin {
  const verdicts = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, readonly GraphQLError[]>>();
  return {
    onParse: ({ setParseFn }) =>
      setParseFn((source, options) => notTooDeep(() => parse(source, { ...options, maxTokens: documentLimits.tokens }))),
    onValidate: ({ validateFn, setValidationFn }) =>
      setValidationFn((schema, document, ...rest) => {
        const known = verdicts.get(schema) ?? new WeakMap<DocumentNode, readonly GraphQLError[]>();
        verdicts.set(schema, known);
        const verdict = known.get(document) ?? notTooDeep(() => verdictOf(schema, document, () => validateFn(schema, document, ...rest)));
        known.set(document, verdict);
        return verdict;
      }),
  };
}

/** Returns the errors of the limits. Without any, returns the errors of the standard rules (`rest`), which take 100 ms for 1,000 aliases. */
function verdictOf(schema: GraphQLSchema, document: DocumentNode, rest: () => readonly GraphQLError[]): readonly GraphQLError[] {
  const over = validate(schema, document, limitRules);
  return over.length > 0 ? over : rest();
}

/** Returns a plugin that refuses operations that could cost too much, by their lists or by their variables. Building the context is the last hook before an operation runs. */
export function useCostLimit(): OperationPlugin {
  return {
    onContextBuilding: ({ context: { servedSchema, definition, document, params } }) => {
      if (servedSchema === undefined || definition === undefined || document === undefined) return;
      const { schema } = servedSchema;
      const variables = params?.variables;
      const refusal =
        refusalOfVariables(schema, definition, variables) ?? refusalOfCost({ schema, document, operation: definition, variables });
      if (refusal !== undefined) throw refusal;
    },
  };
}

/** Returns a plugin that refuses every mutation. */
export function useReadOnly(): OperationPlugin {
  return {
    onContextBuilding: ({ context: { definition } }) => {
      if (definition?.operation === 'mutation')
        throw new MusterError('FORBIDDEN', 'expected a query or a subscription: this gateway is read-only');
    },
  };
}

/** Turns a stack overflow into a GraphQL error. graphql-js recurses: a document of 2,000 brackets overflows the stack. */
function notTooDeep<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new GraphQLError('expected a document that is less deep');
    throw error;
  }
}
