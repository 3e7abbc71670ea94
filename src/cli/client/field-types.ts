import type { Session } from './session.ts';

interface TypeOfField {
  readonly name: string | null;
  readonly ofType?: TypeOfField | null;
}

interface Fields {
  readonly __type: { readonly fields: readonly { readonly name: string; readonly type: TypeOfField }[] | null } | null;
}

const query = `query ($name: String!) {
  __type(name: $name) { fields { name type { name ofType { name ofType { name ofType { name } } } } } }
}`;

/**
 * Queries the type at a path, and returns its name without lists and non-nulls, such as `Int`. Undefined if a part of the path is no field of the
 * schema, such as a key of a map.
 *
 * @param type The type where the path begins, such as `Deployment`.
 */
export async function fieldTypeAt({ gateway }: Pick<Session, 'gateway'>, type: string, path: string): Promise<string | undefined> {
  let name: string | undefined = type;
  for (const segment of path.split('.')) {
    if (name === undefined) return undefined;
    const { __type: found }: Fields = await gateway.query<Fields>(query, { name });
    name = nameOf(found?.fields?.find((field) => field.name === segment)?.type);
  }
  return name;
}

/** Returns the name of the type inside lists and non-nulls. Undefined if the introspection names none. */
function nameOf(type: TypeOfField | null | undefined): string | undefined {
  return type === null || type === undefined ? undefined : (type.name ?? nameOf(type.ofType));
}
