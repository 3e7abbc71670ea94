import type { InputRef, InputType } from '@pothos/core';
import { z } from 'zod';
import { aboutOf, defaultOf, partOf } from '../../core/documents.ts';
import { invariant } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { graphOf, meanings } from '../../propagate/spec/values.ts';
import { schemaSpelling } from '../../propagate/spelling.ts';
import type { GraphBuilder } from '../builder.ts';
import { enumsOf } from '../faults.ts';

/** An enum of the schema: each value stands for itself. */
type DefinedEnum = PothosSchemaTypes.EnumRef<never, string>;

/** Makes inputs and enums from the definitions of our resources, each once. */
export interface DefinedTypes {
  /** The input of a structure. */
  input<T = unknown>(schema: z.ZodType): InputRef<T>;
  /** The enum of a `choice`. */
  enum(schema: z.ZodType): DefinedEnum;
}

type AnyInput = InputRef<unknown> | DefinedEnum | string;

/** @param known Types that have other users too, by name: they are used as they are. */
export function createDefinedTypes({ pothos }: GraphBuilder, known: ReadonlyMap<string, AnyInput>): DefinedTypes {
  const types = new Map(known);
  const make = enumsOf(pothos);

  function typeOf(schema: z.core.$ZodType): AnyInput | readonly [AnyInput] {
    const part = partOf(schema);
    const { scalar, name } = graphOf(schema);
    const type = scalar ?? types.get(name ?? '') ?? scalars[part._zod.def.type];
    if (type !== undefined) return type;
    if (part._zod.def.type === 'array') return [typeOf(part._zod.def.element) as AnyInput];
    invariant(name !== undefined, 'a structure or an enum of an input has a name');
    const made = part._zod.def.type === 'enum' ? enumOf(name, schema) : inputOf(name, schema);
    types.set(name, made);
    return made;
  }

  function enumOf(name: string, schema: z.core.$ZodType): DefinedEnum {
    const values = Object.entries(meanings.get(partOf(schema)) ?? {});
    return make(name, aboutOf(schema) ?? '', Object.fromEntries(values.map(([value, meaning]) => [spelled(value, schema), meaning])));
  }

  function inputOf(name: string, schema: z.core.$ZodType): InputRef<unknown> {
    const { def } = partOf(schema)._zod;
    invariant(def.type === 'object', `${name} is made from a structure`);
    const members = Object.entries(def.shape).filter(([, field]) => graphOf(field).isAbsent !== true);
    return pothos.inputType(name, {
      description: aboutOf(schema) ?? '',
      isOneOf: graphOf(schema).isOneOf === true,
      fields: (t) =>
        Object.fromEntries(
          members.map(([member, field]) => {
            const type = typeOf(field) as InputType<never>;
            const description = z.globalRegistry.get(field)?.description ?? '';
            return [member, t.field({ type, description, ...presenceOf(field) } as never)];
          }),
        ),
    }) as InputRef<unknown>;
  }

  return {
    input: <T>(schema: z.ZodType) => typeOf(schema) as InputRef<T>,
    enum: (schema) => typeOf(schema) as DefinedEnum,
  };
}

const scalars: Readonly<Record<string, string>> = { string: 'String', boolean: 'Boolean', number: 'Int' };

/** Whether a member must be given, and its default: only of scalars and enums, as the default of a structure is that of its members. */
function presenceOf(field: z.core.$ZodType): { readonly required?: true; readonly defaultValue?: Json } {
  if (field._zod.optin === undefined || graphOf(field).isRequired === true) return { required: true };
  const fallback = defaultOf(field);
  if (fallback === undefined || typeof fallback === 'object') return {};
  return { defaultValue: typeof fallback === 'string' && partOf(field)._zod.def.type === 'enum' ? spelled(fallback, field) : fallback };
}

function spelled(value: string, schema: z.core.$ZodType): string {
  return graphOf(schema).isSpelledSame === true ? value : schemaSpelling(value);
}
