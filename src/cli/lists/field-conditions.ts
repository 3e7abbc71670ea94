import { allConditions } from '../../core/filters/where-text.ts';
import type { JsonObject } from '../../core/json.ts';
import { type FieldCondition, whereOfField } from '../arguments/field-selector.ts';
import { fieldTypeAt } from '../client/field-types.ts';
import { resolveKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';
import { printable } from '../output/table.ts';

/** The conditions that flags of the command line put on the fields of objects. */
export interface ConditionFlags {
  readonly where?: readonly JsonObject[];
  readonly fieldSelector?: readonly FieldCondition[];
}

/** Paths of every kind whose values are text. They need no query for their type. */
const textPath = /^(?:metadata\.(?:name|namespace|uid|labels|annotations)|status\.phase$|spec\.nodeName$|type$|reason$)/;

/**
 * Returns the filter of `--where` and `--field-selector` together. Null if there are no conditions. Prints a hint for each condition of `--where` that tests
 * only whether a Boolean is set.
 *
 * @param kinds The kinds as the user wrote them.
 */
export async function whereOfFlags(
  session: Session,
  kinds: readonly string[],
  { where = [], fieldSelector = [] }: ConditionFlags,
): Promise<JsonObject | null> {
  await hintAtBooleans(session, kinds, where);
  const untyped = fieldSelector.filter(({ path }) => !textPath.test(path));
  const types = untyped.length === 0 ? [] : await typesOf(session, kinds);
  const fields = await Promise.all(
    fieldSelector.map(async (condition) => {
      if (!untyped.includes(condition)) return whereOfField(condition, undefined);
      const found = new Set(await Promise.all(types.map((type) => fieldTypeAt(session, type, condition.path))));
      return { or: [...found].map((type) => whereOfField(condition, type)) };
    }),
  );
  return allConditions([...where, ...fields]);
}

/**
 * Prints a hint on standard error for each condition `PATH` or `!PATH` on a Boolean field. Such a condition tests only whether the field is
 * set. The hint shows the condition that tests its value.
 */
async function hintAtBooleans(session: Session, kinds: readonly string[], conditions: readonly JsonObject[]): Promise<void> {
  const tested = conditions.flatMap(({ path, exists }) =>
    typeof path === 'string' && typeof exists === 'boolean' ? [{ path, exists }] : [],
  );
  if (tested.length === 0) return;
  const types = await typesOf(session, kinds);
  for (const { path, exists } of tested) {
    const found = await Promise.all(types.map((type) => fieldTypeAt(session, type, path)));
    if (!found.includes('Boolean')) continue;
    const [what, sign] = exists ? ['is set', '='] : ['is not set', '!='];
    session.terminal.err(
      `hint: ${printable(path)} is a Boolean field, and this condition tests whether it ${what}: ${printable(path)}${sign}true tests its value\n`,
    );
  }
}

async function typesOf(session: Session, kinds: readonly string[]): Promise<readonly string[]> {
  return [...new Set((await resolveKinds(session, kinds)).map(({ kind }) => kind.type))];
}
