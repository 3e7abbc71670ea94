import {
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { RandomChoice } from './random-choice.ts';

export interface RandomDocument {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface DocumentOptions {
  readonly schema: GraphQLSchema;
  readonly choice: RandomChoice;
  /** The start of the operation, such as `query`. */
  readonly operation: 'query' | 'subscription';
  /** Levels of fields. */
  readonly depth: number;
  /** Leaves out fields. Default: none. */
  readonly omits?: (field: GraphQLField<unknown, unknown>, parent: GraphQLCompositeType) => boolean;
}

/** Maximum number of selections of one document. */
const maxSelections = 28;

/** Writes a random valid document: fields, aliases, fragments, directives, arguments and variables. */
export function randomDocument(options: DocumentOptions): RandomDocument {
  return new DocumentWriter(options).write();
}

class DocumentWriter {
  readonly #options: DocumentOptions;
  readonly #fragments = new Map<string, { readonly type: string; readonly text: string }>();
  readonly #variables = new Map<string, { readonly declared: string; readonly value: unknown }>();
  /** The field and the arguments behind each key of the answer. Equal keys must have equal ones. */
  readonly #keys = new Map<string, string>();
  #left = maxSelections;

  constructor(options: DocumentOptions) {
    this.#options = options;
  }

  write(): RandomDocument {
    const { schema, operation, depth, choice } = this.#options;
    const root = (operation === 'query' ? schema.getQueryType() : schema.getSubscriptionType()) as GraphQLObjectType;
    // A subscription has one root field, without directives.
    const body =
      operation === 'query' ? this.#selections(root, depth) : `{ ${this.#field(root, choice.of(this.#fieldsOf(root, depth)), depth)} }`;
    const declared = [...this.#variables.values()].map((variable) => variable.declared).join(', ');
    const fragments = [...this.#fragments].map(([name, { type, text }]) => `fragment ${name} on ${type} ${text}`);
    const text = [`${operation}${declared === '' ? '' : ` (${declared})`} ${body}`, ...fragments].join('\n');
    const given = [...this.#variables].filter(([, { value }]) => value !== undefined);
    return { text, variables: Object.fromEntries(given.map(([name, { value }]) => [name, value])) };
  }

  #selections(type: GraphQLCompositeType, depth: number): string {
    const { choice } = this.#options;
    const count = 1 + choice.below(5);
    const selections: string[] = [];
    for (let n = 0; n < count && this.#left > 0; n += 1) {
      this.#left -= 1;
      selections.push(this.#selection(type, depth));
    }
    return `{ ${selections.length === 0 ? '__typename' : selections.join(' ')} }`;
  }

  #selection(type: GraphQLCompositeType, depth: number): string {
    const { choice } = this.#options;
    const kind = choice.below(10);
    if (kind === 0) return `${choice.chance(0.3) ? 'kindOf: ' : ''}__typename`;
    if (kind <= 2 && depth > 0) return this.#fragment(type, depth);
    const fields = this.#fieldsOf(type, depth);
    return fields.length === 0 ? '__typename' : this.#field(type, choice.of(fields), depth);
  }

  #fieldsOf(type: GraphQLCompositeType, depth: number): readonly GraphQLField<unknown, unknown>[] {
    const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
    const { omits = () => false } = this.#options;
    return fields.filter((field) => (depth > 1 || !isCompositeType(getNamedType(field.type))) && !omits(field, type));
  }

  #field(parent: GraphQLCompositeType, field: GraphQLField<unknown, unknown>, depth: number): string {
    const { choice, operation } = this.#options;
    const signature = field.args.map(({ name, type }) => `${name}:${type}`).join();
    const args = field.args.flatMap((argument) => this.#argument(argument)).join(', ');
    const named = `${field.name}${args === '' ? '' : `(${args})`}`;
    const isAliased = choice.chance(0.15) || (this.#keys.get(field.name) !== undefined && choice.chance(0.5));
    const alias = choice.chance(0.05) ? '__proto__' : `k${choice.below(400)}`;
    const key = isAliased ? alias : field.name;
    const meaning = `${named} ${signature} ${field.type} ${isObjectType(parent) ? '' : parent.name}`;
    const before = this.#keys.get(key);
    if (before !== undefined && before !== meaning) return '__typename';
    this.#keys.set(key, meaning);
    const type = getNamedType(field.type);
    const below = isCompositeType(type) ? ` ${this.#selections(type, depth - 1)}` : '';
    const isRoot = operation === 'subscription' && depth === this.#options.depth;
    return `${key === field.name ? '' : `${key}: `}${named}${isRoot ? '' : this.#directives()}${below}`;
  }

  #argument({ name, type }: { readonly name: string; readonly type: GraphQLInputType }): readonly string[] {
    const { choice } = this.#options;
    if (!isNonNullType(type) && choice.chance(0.5)) return [];
    if (choice.chance(0.5)) return [`${name}: ${this.#literal(type)}`];
    const variable = `v${this.#variables.size}`;
    const mayLack = !isNonNullType(type) && choice.chance(0.3);
    this.#variables.set(variable, { declared: `$${variable}: ${type}`, value: mayLack ? undefined : this.#value(type) });
    return [`${name}: $${variable}`];
  }

  #literal(type: GraphQLInputType): string {
    if (isNonNullType(type)) return this.#literal(type.ofType);
    if (isEnumType(type)) return this.#options.choice.of(type.getValues()).name;
    if (isListType(type)) return this.#options.choice.chance(0.2) ? this.#literal(type.ofType) : `[${this.#literal(type.ofType)}]`;
    if (isInputObjectType(type)) {
      const members = inputFieldsOf(type).map((field) => `${field.name}: ${this.#literal(field.type)}`);
      return `{ ${members.join(', ')} }`;
    }
    return JSON.stringify(this.#value(type));
  }

  #value(type: GraphQLInputType): unknown {
    const { choice } = this.#options;
    if (isNonNullType(type)) return this.#value(type.ofType);
    if (isListType(type)) return [this.#value(type.ofType)];
    if (isEnumType(type)) return choice.of(type.getValues()).name;
    if (isInputObjectType(type)) return Object.fromEntries(inputFieldsOf(type).map((field) => [field.name, this.#value(field.type)]));
    if (type.name === 'Int' || type.name === 'Float') return choice.below(9);
    return type.name === 'Boolean' ? choice.chance(0.5) : choice.of(['a', 'app', 'cpu']);
  }

  #fragment(type: GraphQLCompositeType, depth: number): string {
    const { choice } = this.#options;
    const on = choice.of(this.#overlapping(type));
    if (choice.chance(0.4)) return `... on ${on.name}${this.#directives()} ${this.#selections(on, depth)}`;
    if (on === type && choice.chance(0.1)) return `...${this.#directives()} ${this.#selections(type, depth)}`;
    const known = [...this.#fragments].filter(([, { type: name }]) => name === on.name).map(([name]) => name);
    if (known.length > 0 && choice.chance(0.5)) return `...${choice.of(known)}${this.#directives()}`;
    // Its name is known only when it is complete, so that no fragment spreads itself.
    const text = this.#selections(on, depth - 1);
    const name = `F${this.#fragments.size}`;
    this.#fragments.set(name, { type: on.name, text });
    return `...${name}${this.#directives()}`;
  }

  #overlapping(type: GraphQLCompositeType): readonly GraphQLCompositeType[] {
    const { schema } = this.#options;
    if (isAbstractType(type)) return [type, ...schema.getPossibleTypes(type).slice(0, 20)];
    return isObjectType(type) ? [type, ...type.getInterfaces()] : [type];
  }

  #directives(): string {
    const { choice } = this.#options;
    if (!choice.chance(0.12)) return '';
    const name = choice.of(['skip', 'include']);
    if (choice.chance(0.3)) return ` @${name}(if: ${choice.chance(0.5)})`;
    const variable = `b${choice.below(3)}`;
    if (!this.#variables.has(variable)) this.#variables.set(variable, { declared: `$${variable}: Boolean!`, value: choice.chance(0.5) });
    return ` @${name}(if: $${variable})`;
  }
}

/** Returns the fields of an input type that a document must give, and its scalars. An input type may contain itself in other fields. */
function inputFieldsOf(type: GraphQLInputObjectType): readonly GraphQLInputField[] {
  return Object.values(type.getFields()).filter((field) => isNonNullType(field.type) || !isInputObjectType(getNamedType(field.type)));
}
