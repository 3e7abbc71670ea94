import {
  type DocumentNode,
  type ExecutionResult,
  executeRootSelectionSet,
  type FormattedExecutionResult,
  type GraphQLSchema,
  parse,
  type ValidatedExecutionArgs,
  validateExecutionArgs,
} from 'graphql';
import type { BailReason } from '../../../src/execution/bail.ts';
import type { ExecutionAttempts, OperationExecutor } from '../../../src/execution/operation-executor.ts';
import { AnswerEncoder } from '../../../src/operations/answer-encoder.ts';
import { testExecutor } from '../graph/executor.ts';
import type { RandomDocument } from './random-document.ts';

/** One execution of an operation: everything that a client or the gateway can observe. */
interface Observed {
  readonly answer: string;
  /** Observations besides the answer, such as reported faults. */
  readonly effects: readonly string[];
}

export interface ComparedOperation {
  readonly schema: GraphQLSchema;
  readonly document: RandomDocument;
  readonly rootValue?: unknown;
  /**
   * Creates the attempts of one execution, and reads the effects of the last one after its end. Only the execution with compiled code may be
   * aborted, as it has other pauses.
   */
  attempts(executor: 'compiled' | 'graphql-js'): { readonly attempts: ExecutionAttempts; effects(): readonly string[] };
}

export interface Compared {
  readonly expected: Observed;
  readonly actual: Observed;
  /** True if compiled code gave the answer. */
  readonly isCompiled: boolean;
  readonly bails: readonly BailReason[];
}

/** Runs everything with graphql-js. */
const generic = { execute: runGeneric } as Pick<OperationExecutor, 'execute'> as OperationExecutor;

function runGeneric(validated: ValidatedExecutionArgs, { newContext }: ExecutionAttempts) {
  return executeRootSelectionSet({ ...validated, contextValue: newContext('graphql-js') });
}

const encoder = new AnswerEncoder({ clock: { monotonic: () => 0 } });

/** The error that `throwIfOver` of an aborted operation throws. */
export const over = new Error('the operation is over');

/**
 * Executes an operation with graphql-js, then as compiled code. Then again, with texts that were kept, or with other values of the Boolean
 * variables. Undefined if its variables are refused.
 */
export async function compareAnswers(operation: ComparedOperation): Promise<Compared | undefined> {
  const { variables } = operation.document;
  const bails: BailReason[] = [];
  const executor = testExecutor(bails);
  const document = parse(operation.document.text);
  const first = await compareOnce(operation, { executor, document, variables });
  if (first === undefined || !first.isCompiled || first.actual.answer !== first.expected.answer) return first && { ...first, bails };
  const flipped = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, typeof value === 'boolean' ? !value : value]));
  const isSame = Object.values(variables).every((value) => typeof value !== 'boolean');
  // Texts that were kept are read by one in three documents, which is enough.
  const readsKept = operation.document.text.length % 3 === 0;
  if (isSame && !readsKept) return { ...first, bails };
  const second = await compareOnce(operation, { executor, document, variables: readsKept ? variables : flipped });
  return { ...(second ?? first), isCompiled: true, bails };
}

interface Execution {
  readonly executor: OperationExecutor;
  readonly document: DocumentNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

async function compareOnce(
  { schema, rootValue, attempts }: ComparedOperation,
  { executor, document, variables }: Execution,
): Promise<Omit<Compared, 'bails'> | undefined> {
  const validated = validateExecutionArgs({ schema, document, variableValues: variables, rootValue });
  if (!('schema' in validated)) return undefined;
  const used: string[] = [];
  const observe = async (execution: 'compiled' | 'graphql-js', by: OperationExecutor): Promise<Observed> => {
    used.length = 0;
    const one = attempts(execution);
    const newContext: ExecutionAttempts['newContext'] = (attempt) => {
      used.push(attempt);
      return one.attempts.newContext(attempt);
    };
    try {
      const result = await by.execute(validated, { ...one.attempts, newContext });
      one.attempts.throwIfOver();
      return { answer: await textOf(result), effects: one.effects() };
    } catch (error) {
      if (error === over) return { answer: 'over', effects: [] };
      throw error;
    }
  };
  const expected = await observe('graphql-js', generic);
  // The first use of an operation is never compiled.
  const actual = await observe('compiled', executor);
  return {
    expected,
    actual: used.join() === 'graphql-js' ? await observe('compiled', executor) : actual,
    isCompiled: used.join() === 'compiled',
  };
}

async function textOf({ data, errors }: ExecutionResult): Promise<string> {
  try {
    const pieces = await encoder.encode({ data, errors } as FormattedExecutionResult, new AbortController().signal);
    return String(Buffer.concat(pieces));
  } catch (error) {
    return `not JSON: ${error}`;
  }
}
