import { setFlagsFromString } from 'node:v8';
import { type GraphQLSchema, type OperationDefinitionNode, OperationTypeNode, type ValidatedExecutionArgs } from 'graphql';
import type { Clock } from '../core/clock.ts';
import { Bail, type BailReason, bails } from './bail.ts';
import { conditionVariables } from './collect-fields.ts';
import { CompiledOperation } from './compiled-operation.ts';
import { KeptTextsBudget } from './kept-texts.ts';
import { NotCompilable } from './unit-writer.ts';

export interface OperationCompilerOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Number of elements that a selection must have printed within a minute before the JSON texts of its objects are stored. Default: 5,000. */
  readonly keepTextsAfter?: number | undefined;
  /** Called each time compiled code gave up. graphql-js then runs the operation. */
  readonly onBail: (reason: BailReason) => void;
}

/** Maximum number of variants of one operation. Each combination of values of the variables in `@skip` and `@include` is a variant. */
const maxVariants = 8;

/** If an operation gives up this often within `restMs`, graphql-js runs it for the next `restMs`. */
const maxBails = 3;
const restMs = 60_000;

/** The memory of the compiler about one operation. Kept as long as its parsed document. */
interface KnownOperation {
  uses: number;
  /** The names of the variables whose values choose a variant. Undefined if the operation is never compiled, or never again. */
  conditions: readonly string[] | undefined;
  readonly variants: Map<string, CompiledOperation>;
  /** The times at which its compiled code gave up during the last `restMs`, in milliseconds of the monotonic clock. */
  bailedMs: number[];
  restsUntilMs: number;
}

// V8 caches the code of each text that it evaluates, and never frees it: 3 kB for each operation, even after all its functions are gone. The flag
// turns this cache off for the whole process, from now on. Muster evaluates each generated text once, so it loses nothing.
setFlagsFromString('--no-compilation-cache');

/** Runs operations as generated JavaScript, from their second use on. */
export class OperationCompiler {
  readonly #options: OperationCompilerOptions;
  readonly #canGenerate = canGenerateCode();
  readonly #texts: KeptTextsBudget;
  readonly #operations = new WeakMap<GraphQLSchema, WeakMap<OperationDefinitionNode, KnownOperation>>();

  constructor(options: OperationCompilerOptions) {
    this.#options = options;
    this.#texts = new KeptTextsBudget(options);
  }

  /**
   * Returns a function that runs the operation as compiled code. Returns undefined if graphql-js must run the operation:
   * - at its first use;
   * - if it is a mutation, or contains something that is never compiled;
   * - for a minute, after it gave up three times within a minute;
   * - if the process may not generate code.
   *
   * The function throws or rejects if its attempt failed, also for errors of resolvers. The caller then calls `failed` and runs the whole operation
   * with graphql-js.
   */
  find(validated: ValidatedExecutionArgs): CompiledOperation['run'] | undefined {
    const { operation } = validated;
    if (!this.#canGenerate || operation.operation === OperationTypeNode.MUTATION || !validated.errorPropagation) return undefined;
    const known = this.#known(validated);
    known.uses += 1;
    if (known.uses < 2 || known.conditions === undefined || this.#options.clock.monotonic() < known.restsUntilMs) return undefined;
    const compiled = this.#variant(known, known.conditions, validated);
    return compiled?.run.bind(compiled);
  }

  /**
   * Counts a failed attempt, and calls `onBail`. After three failures within a minute, or a `NotCompilable` error, `find` returns undefined for the
   * operation. The caller does not call it after an abort.
   */
  failed({ schema, operation }: ValidatedExecutionArgs, error: unknown): void {
    const known = this.#operations.get(schema)?.get(operation);
    if (known === undefined) return;
    // Code for an object type of an interface or union is compiled when its first object is met. So only this run found the unknown resolver, and the
    // operation is not compiled again.
    if (error instanceof NotCompilable) known.conditions = undefined;
    const nowMs = this.#options.clock.monotonic();
    known.bailedMs = [...known.bailedMs.filter((ms) => nowMs - ms < restMs), nowMs];
    if (known.bailedMs.length >= maxBails) {
      known.restsUntilMs = nowMs + restMs;
      known.bailedMs = [];
    }
    this.#options.onBail(error instanceof Bail ? error.reason : error instanceof NotCompilable ? 'type' : 'thrown');
  }

  #known({ schema, operation, fragmentDefinitions }: ValidatedExecutionArgs): KnownOperation {
    const ofSchema = this.#operations.get(schema) ?? new WeakMap<OperationDefinitionNode, KnownOperation>();
    this.#operations.set(schema, ofSchema);
    const known = ofSchema.get(operation);
    if (known !== undefined) return known;
    const conditions = conditionVariables(operation, fragmentDefinitions);
    const created = { uses: 0, conditions, variants: new Map(), bailedMs: [], restsUntilMs: Number.NEGATIVE_INFINITY };
    ofSchema.set(operation, created);
    return created;
  }

  #variant(known: KnownOperation, names: readonly string[], validated: ValidatedExecutionArgs): CompiledOperation | undefined {
    const { coerced } = validated.variableValues;
    const key = names.map((name) => String(coerced[name])).join();
    const found = known.variants.get(key);
    if (found !== undefined) return found;
    try {
      if (known.variants.size >= maxVariants) throw bails.variants;
      const conditions = Object.fromEntries(names.map((name) => [name, coerced[name] === true]));
      const made = new CompiledOperation(validated, { conditions, budget: this.#texts });
      known.variants.set(key, made);
      return made;
    } catch (error) {
      if (!(error instanceof NotCompilable || error instanceof Bail)) throw error;
      // Earlier variants stay in use. If the first variant already fails, the operation is never compiled.
      if (known.variants.size === 0) known.conditions = undefined;
      return undefined;
    }
  }
}

/** True if code can be generated at run time. False in a process with `--disallow-code-generation-from-strings`. */
function canGenerateCode(): boolean {
  try {
    return new Function('return true')() === true;
  } catch {
    return false;
  }
}
