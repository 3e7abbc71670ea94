import type { Json, JsonObject } from '../../core/json.ts';
import { listAt, textAt, valueAt } from '../../core/json-at.ts';
import type { EnvOverride, Manifest } from '../spec.ts';
import { type Edit, type ItemEdits, unknownContainer, withoutEffect } from './edits.ts';
import { containersOf } from './pod-specs.ts';

/**
 * Changes one variable of one container, or of every one, init too: Add sets it, in its place where it is there already, else at the end; Replace and
 * Remove touch what is there only, else a warning.
 */
export function overrideEnv(object: Manifest, item: EnvOverride): ItemEdits {
  const named = containersOf(object, 'All').filter(({ name }) => item.container === undefined || name === item.container);
  if (item.container !== undefined && named.length === 0) {
    return { result: 'edits', edits: [], warnings: [unknownContainer(item.container, '.container')] };
  }
  const edits: Edit[] = named.flatMap(({ path, container }) => {
    const value = changedEnv(listAt(container, 'env'), item);
    return value === undefined ? [] : [{ path: [...path, 'env'], value, replaces: valueAt(container, 'env') !== undefined }];
  });
  if (edits.length > 0) return { result: 'edits', edits, warnings: [] };
  return withoutEffect(`expected a container with the variable ${JSON.stringify(item.name)}, got none`, '.name');
}

/** Undefined if nothing is touched. */
function changedEnv(env: readonly Json[], item: EnvOverride): readonly Json[] | undefined {
  const present = env.some((variable) => textAt(variable, 'name') === item.name);
  if (!present) return item.operator === 'Add' ? [...env, variableOf(item)] : undefined;
  const isMeant = (variable: Json): boolean => textAt(variable, 'name') === item.name;
  if (item.operator === 'Remove') return env.filter((variable) => !isMeant(variable));
  return env.map((variable) => (isMeant(variable) ? variableOf(item) : variable));
}

function variableOf({ name, value, valueFrom }: EnvOverride): JsonObject {
  if (valueFrom !== undefined) return { name, valueFrom };
  return value === undefined ? { name } : { name, value };
}
