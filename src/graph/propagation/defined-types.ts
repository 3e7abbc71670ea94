import type { InputRef, InputType } from '@pothos/core';
import { z } from 'zod';
import { invariant } from '../../core/errors.ts';
import { baseDescriptionOf, innermostSchemaOf, schemaDefaultOf } from '../../core/json/documents.ts';
import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import { graphqlDescriptionOf, graphqlHintsOf, meanings } from '../../core/json/field-definitions.ts';
import type { Json } from '../../core/json.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf, type FieldsOf } from '../builder/pothos.ts';

/** An enum whose internal values equal their names. */
type DefinedEnum = PothosSchemaTypes.EnumRef<never, string>;

/** Creates inputs, enums and output fields from the definitions of the resources on the hub. Each type is created once. */
export interface DefinedTypes {
  /** Returns the GraphQL input type for the definition of a structure. */
  input<T = unknown>(schema: z.ZodType): InputRef<T>;
  /** Returns the GraphQL enum for a `describedEnum`. */
  enum(schema: z.ZodType): DefinedEnum;
  /** Declares members of a structure as fields of an output type. `read` says where a resolver finds them. */
  fields<T>(t: FieldsOf<T>, schema: z.ZodType, read: MembersRead<T>): Readonly<Record<string, OutputField>>;
}

interface MembersRead<T> {
  /** Default: every member. */
  readonly names?: readonly string[];
  readonly of: (source: T) => object;
}

type OutputField = ReturnType<FieldsOf<unknown>['field']>;

type AnyInput = InputRef<unknown> | DefinedEnum | string;

/**
 * Creates the collection of types for one schema.
 *
 * @param known Types that other modules have added to the schema, by name. They are used in place of new types.
 */
export function createDefinedTypes({ pothos }: GraphBuilder, known: Readonly<Record<string, AnyInput>>): DefinedTypes {
  const types = new Map(Object.entries(known));
  const make = enumsOf(pothos);

  function typeOf(schema: z.core.$ZodType): AnyInput | readonly [AnyInput] {
    const part = innermostSchemaOf(schema);
    const { scalar, name } = graphqlHintsOf(schema);
    const { def } = part._zod;
    const type = scalar ?? types.get(name ?? '') ?? scalars[def.type];
    if (type !== undefined) return type;
    if (def.type === 'array') return [typeOf(def.element) as AnyInput];
    // An enum without a name, such as a reason, is a text in the schema, so that new values do not break clients.
    if (def.type === 'enum' && name === undefined) return 'String';
    invariant(name !== undefined, 'a structure or an enum of an input has a name');
    const made = def.type === 'enum' ? enumOf(name, schema) : inputOf(name, schema);
    types.set(name, made);
    return made;
  }

  function enumOf(name: string, schema: z.core.$ZodType): DefinedEnum {
    const values = Object.entries(meanings.get(innermostSchemaOf(schema)) ?? {});
    return make(
      name,
      graphqlDescriptionOf(baseDescriptionOf(schema) ?? ''),
      Object.fromEntries(values.map(([value, meaning]) => [spelled(value, schema), graphqlDescriptionOf(meaning)])),
    );
  }

  function inputOf(name: string, schema: z.core.$ZodType): InputRef<unknown> {
    const { def } = innermostSchemaOf(schema)._zod;
    invariant(def.type === 'object', `${name} is made from a structure`);
    const members = Object.entries(def.shape).filter(([, field]) => graphqlHintsOf(field).isAbsent !== true);
    return pothos.inputType(name, {
      description: graphqlDescriptionOf(baseDescriptionOf(schema) ?? ''),
      isOneOf: graphqlHintsOf(schema).isOneOf === true,
      fields: (t) =>
        Object.fromEntries(
          members.map(([member, field]) => {
            const type = typeOf(field) as InputType<never>;
            const description = graphqlDescriptionOf(z.globalRegistry.get(field)?.description ?? '');
            return [member, t.field({ type, description, ...presenceOf(field) } as never)];
          }),
        ),
    }) as InputRef<unknown>;
  }

  return {
    input: <T>(schema: z.ZodType) => typeOf(schema) as InputRef<T>,
    enum: (schema) => typeOf(schema) as DefinedEnum,
    fields(t, schema, { names, of }) {
      const { def } = innermostSchemaOf(schema)._zod;
      invariant(def.type === 'object', 'only a structure has members');
      const members = Object.entries(def.shape).filter(([name]) => names === undefined || names.includes(name));
      return Object.fromEntries(
        members.map(([name, member]) => {
          const isEnum = innermostSchemaOf(member)._zod.def.type === 'enum';
          const resolve = (source: never) => {
            const value: unknown = of(source)[name as never];
            return isEnum && typeof value === 'string' ? spelled(value, member) : value;
          };
          const description = graphqlDescriptionOf(z.globalRegistry.get(member)?.description ?? '');
          return [name, t.field({ type: typeOf(member), nullable: member._zod.optin !== undefined, description, resolve } as never)];
        }),
      );
    },
  };
}

const scalars: Readonly<Record<string, string>> = { string: 'String', boolean: 'Boolean', number: 'Int' };

/**
 * Returns whether a member is required, and its default. Only scalars and enums get a default. A structure needs none, because its members
 * have their own.
 */
function presenceOf(field: z.core.$ZodType): { readonly required?: true; readonly defaultValue?: Json } {
  if (field._zod.optin === undefined || graphqlHintsOf(field).isRequired === true) return { required: true };
  const fallback = schemaDefaultOf(field);
  if (fallback === undefined || typeof fallback === 'object') return {};
  return {
    defaultValue: typeof fallback === 'string' && innermostSchemaOf(field)._zod.def.type === 'enum' ? spelled(fallback, field) : fallback,
  };
}

function spelled(value: string, schema: z.core.$ZodType): string {
  return graphqlHintsOf(schema).isSpelledSame === true ? value : schemaSpelling(value);
}
