import type { Fault } from '../core/faults.ts';
import type { FieldConflict } from './plan.ts';

const typedPatchError = /(\.[^\s:]+): (field not declared in schema|expected [a-z]+)/g;
const strictError = /(unknown|duplicate) field "([^"]+)"/g;

/** The fields of ours that another manager owns, as the API server names them. Empty for any other refusal. */
export function fieldConflictsOf({ status }: Fault): readonly FieldConflict[] {
  const causes = status?.causes.filter(({ reason }) => reason === 'FieldManagerConflict') ?? [];
  return causes.map(({ field = '', message = '' }) => ({ path: field, manager: /conflict with "([^"]*)"/.exec(message)?.[1] ?? '' }));
}

/** True if the object is not the one that the preconditions name: it changed, is another one of its name, is gone, or is there already (observed.md). */
export function isStale(fault: Fault): boolean {
  if (fault.code === 'CONFLICT') return fieldConflictsOf(fault).length === 0;
  return fault.code === 'INVALID' && fault.status?.causes.some(({ field }) => field === 'metadata.uid') === true;
}

/**
 * What of a manifest the API server took offence at: `.spec.replicaz: field not declared in schema`, `spec.selector: FieldValueInvalid`. Without values: what
 * it says of those is left out. Empty if it named no field.
 */
export function refusedFieldsOf({ status }: Fault): readonly string[] {
  if (status === undefined) return [];
  const named = status.causes.flatMap(({ field, reason = 'invalid' }) =>
    field === undefined || field === '' ? [] : [`${field}: ${reason}`],
  );
  const undeclared = [...status.message.matchAll(typedPatchError)].map(([, path, problem]) => `${path}: ${problem}`);
  const strict = [...status.message.matchAll(strictError)].map(([, problem, path]) => `${path}: ${problem} field`);
  return [...new Set([...named, ...undeclared, ...strict])];
}
