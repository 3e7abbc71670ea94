import type { JsonObject } from '../core/json.ts';
import { meantKinds } from './meant-kinds.ts';
import type { Session } from './session.ts';
import { printable } from './table.ts';

/**
 * Prints a hint on standard error for each condition `PATH` or `!PATH` on a Boolean field. Such a condition tests only whether the field is set. The hint
 * shows the condition that tests its value.
 *
 * @param kinds The kinds as the user wrote them.
 */
export async function hintAtBooleans(session: Session, kinds: readonly string[], conditions: readonly JsonObject[]): Promise<void> {
  const asked = conditions.flatMap(({ path, exists }) =>
    typeof path === 'string' && typeof exists === 'boolean' ? [{ path, exists }] : [],
  );
  if (asked.length === 0) return;
  const types = new Set((await meantKinds(session, kinds)).map(({ kind }) => kind.type));
  for (const { path, exists } of asked) {
    const found = await Promise.all([...types].map((type) => isBoolean(session, type, path.split('.'))));
    if (!found.includes(true)) continue;
    const [what, sign] = exists ? ['is there', '='] : ['is not there', '!='];
    session.terminal.err(
      `hint: ${printable(path)} is true or false, and this asks whether it ${what}: ${printable(path)}${sign}true asks for its value\n`,
    );
  }
}

interface TypeOfField {
  readonly name: string | null;
  readonly ofType?: TypeOfField | null;
}

interface Fields {
  readonly __type: { readonly fields: readonly { readonly name: string; readonly type: TypeOfField }[] | null } | null;
}

/** True if the path leads to a Boolean field. False if it leads beyond the fields of the type, for example to a label or the cluster. */
async function isBoolean({ gateway }: Session, type: string, path: readonly string[]): Promise<boolean> {
  const query = `query ($name: String!) {
    __type(name: $name) { fields { name type { name ofType { name ofType { name ofType { name } } } } } }
  }`;
  let name: string | undefined = type;
  for (const segment of path) {
    if (name === undefined) return false;
    const { __type: found }: Fields = await gateway.query<Fields>(query, { name });
    name = nameOf(found?.fields?.find((field) => field.name === segment)?.type);
  }
  return name === 'Boolean';
}

/** The name of the type inside lists and non-nulls. */
function nameOf(type: TypeOfField | null | undefined): string | undefined {
  return type === null || type === undefined ? undefined : (type.name ?? nameOf(type.ofType));
}
