import {
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLLeafType,
  type GraphQLResolveInfo,
  getArgumentValues,
  type ValidatedExecutionArgs,
} from 'graphql';
import { bails } from './bail.ts';
import { ChargedList } from './charged-list.ts';
import type { AnswerPath, FieldSite } from './field-site.ts';
import { JsonListBuilder } from './json-list.ts';
import type { KeptTexts } from './kept-texts.ts';

/** The compiled code of a selection set, for one object type or for the value of one root field. */
export interface ProjectionUnit {
  /** True if `project` is a generator function. It yields at points where the time slice may end, so that other operations can run. */
  readonly isSteps: boolean;
  readonly project: (source: unknown, context: unknown, run: ProjectionRun, path: AnswerPath | undefined) => unknown;
}

/** The parts of a compiled operation that its runs read. */
export interface RunProgram {
  readonly sites: readonly FieldSite[];
  /**
   * Returns the compiled code for an object of an interface or union. Compiles it at the first call for each object type. `site` is the number of the
   * `AbstractSite`.
   */
  unitFor(site: number, typeName: unknown): ProjectionUnit;
}

type Args = Readonly<Record<string, unknown>>;

/**
 * One run of a compiled operation, with the methods that generated code calls. A method throws a `Bail` for a value that the compiled code cannot
 * handle. graphql-js then runs the whole operation.
 */
export class ProjectionRun {
  readonly #program: RunProgram;
  readonly #validated: ValidatedExecutionArgs;
  readonly #arguments: (Args | undefined)[] = [];
  /** True once the data contains a `JsonList`. */
  hasTexts = false;

  constructor(program: RunProgram, validated: ValidatedExecutionArgs) {
    this.#program = program;
    this.#validated = validated;
  }

  /** Returns the arguments of a field. All calls share one object, unless graphql-js makes new arguments for each call (`hasFreshArguments`). */
  args(site: number): Args {
    const shared = this.#arguments[site];
    if (shared !== undefined) return shared;
    const { field, nodes, freshArguments } = this.#siteAt(site);
    const args = getArgumentValues(
      field as { readonly args: readonly GraphQLArgument[] } & typeof field,
      nodes[0],
      this.#validated.variableValues,
    );
    if (!freshArguments) this.#arguments[site] = args;
    return args;
  }

  info(site: number, path: AnswerPath): GraphQLResolveInfo {
    const { field, nodes, parentType } = this.#siteAt(site);
    const { schema, fragmentDefinitions, rootValue, operation, variableValues } = this.#validated;
    return {
      fieldName: field.name,
      fieldNodes: nodes,
      returnType: field.type,
      parentType,
      path,
      schema,
      fragments: fragmentDefinitions as Record<string, FragmentDefinitionNode>,
      rootValue,
      operation,
      variableValues,
      getAbortSignal: () => this.#validated.externalAbortSignal,
      getAsyncHelpers: () => {
        throw bails.promise;
      },
    };
  }

  unit(site: number, typeName: unknown): ProjectionUnit {
    return this.#program.unitFor(site, typeName);
  }

  /**
   * Returns the elements of an array or a `ChargedList`.
   *
   * @throws {Bail} `list` for any other value.
   */
  list(value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value;
    if (value instanceof ChargedList) return value.list;
    throw bails.list;
  }

  /**
   * Begins a list that becomes JSON text, from an array or a `ChargedList`. `kept` stores the texts of its elements; undefined if a field depends on more
   * than the object.
   *
   * @throws {Bail} `list` for any other value.
   */
  texts(kept: KeptTexts | undefined, value: unknown): JsonListBuilder {
    return this.#builder(kept, value, value instanceof ChargedList ? value.key : undefined);
  }

  /** Like `texts`, for elements with fields that depend on more than the object. `kept` stores the other parts of their texts. */
  parts(kept: KeptTexts, value: unknown): JsonListBuilder {
    return this.#builder(kept, value, undefined);
  }

  /** Returns the JSON of an object from the JSON of its members. A piece has several members, or none: JSON leaves out values such as undefined. */
  object(...pieces: readonly string[]): string {
    let text = '{';
    for (const piece of pieces) if (piece !== '') text += text === '{' ? piece : `,${piece}`;
    return `${text}}`;
  }

  #builder(kept: KeptTexts | undefined, value: unknown, key: object | undefined): JsonListBuilder {
    this.hasTexts = true;
    const { length } = value instanceof ChargedList ? value : this.list(value);
    return new JsonListBuilder({ list: () => this.list(value), key }, kept?.begin(length) === true ? kept : undefined);
  }

  /**
   * Converts a value that is not of the usual JavaScript type to a leaf of this type.
   *
   * @throws {Bail} for a promise, an error, or a conversion that gives null. Also throws what the conversion throws.
   */
  leaf(type: GraphQLLeafType, value: unknown): unknown {
    this.present(value);
    const leaf: unknown = type.coerceOutputValue(value);
    if (leaf === undefined || leaf === null) throw bails.leaf;
    this.present(leaf);
    return leaf;
  }

  /** Throws a `Bail` if the value is a promise or an error. */
  present(value: unknown): void {
    if (typeof value !== 'object' && typeof value !== 'function') return;
    if (value instanceof Error) throw bails.thrown;
    if (typeof (value as { then?: unknown } | null)?.then === 'function') throw bails.promise;
  }

  /** Throws a `Bail`: the source is no object, or the property is a function, which the default resolver would call. */
  odd(): never {
    throw bails.type;
  }

  /** Throws a `Bail`: a stored value does not fit the type of its field. In the run by graphql-js, the resolver reports it as a fault. */
  misfit(): never {
    throw bails.misfit;
  }

  /** Throws a `Bail`: a value is null although its type is not nullable. */
  null(): never {
    throw bails.null;
  }

  #siteAt(index: number): FieldSite {
    const site = this.#program.sites[index];
    if (site === undefined) throw bails.type;
    return site;
  }
}
