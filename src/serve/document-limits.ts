import { type DocumentNode, GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import { refusalOfCost } from '../graph/cost.ts';
import { documentLimits, limitRules } from '../graph/limits.ts';
import type { ServePlugin } from './operations.ts';

/**
 * Bounds the documents of clients: tokens while parsing, sizes before all other rules.
 *
 * Verdicts are kept per schema and document. Yoga's own cache of them joins the names of all rules for each request, which is 3 % of a small one.
 */
export function useDocumentLimits(): ServePlugin {
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

/** 1,000 aliases take the standard rules 100 ms: what is over a bound is not shown to them. */
function verdictOf(schema: GraphQLSchema, document: DocumentNode, rest: () => readonly GraphQLError[]): readonly GraphQLError[] {
  const over = validate(schema, document, limitRules);
  return over.length > 0 ? over : rest();
}

/** Refuses operations that could cost too much. The building of the context is the last hook before an operation runs. */
export function useCostLimit(): ServePlugin {
  return {
    onContextBuilding: ({ context: { served, definition, document, params } }) => {
      if (served === undefined || definition === undefined || document === undefined) return;
      const refusal = refusalOfCost({ schema: served.schema, document, operation: definition, variables: params?.variables });
      if (refusal !== undefined) throw refusal;
    },
  };
}

/** graphql-js recurses: 2,000 tokens of nothing but brackets overflow the stack. */
function notTooDeep<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new GraphQLError('expected a document that is less deep');
    throw error;
  }
}
