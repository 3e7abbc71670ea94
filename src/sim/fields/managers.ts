import { equalJson } from '../../core/json/json-values.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { compareText } from '../../core/text.ts';
import { type FieldSet, isEmptySet, parseFieldSet, printFieldSet } from './field-set.ts';

/** Identity of an entry in managedFields. For updates the version is part of the identity. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
}

/** The fields of one manager. */
export interface Ownership extends Manager {
  /** Time of the last change. Absent for subresources of another kind, such as scale. */
  readonly time?: string;
  readonly fields: FieldSet;
}

/** True if both entries belong to one manager. */
export function isSameManager(left: Manager, right: Manager): boolean {
  const isAlike = left.manager === right.manager && left.operation === right.operation && left.subresource === right.subresource;
  // For an apply, the version is not part of the identity.
  return isAlike && (left.operation === 'Apply' || left.apiVersion === right.apiVersion);
}

/** Parses `managedFields`. Undefined if there are none, or they are invalid. */
export function parseManagers(value: Json | undefined): readonly Ownership[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const entries = (value as readonly Json[]).map(parseOwnership);
  return entries.every((entry) => entry !== undefined) ? entries : undefined;
}

/** True for a list that clears all managers: an empty one, or a single empty entry. */
export function isReset(value: Json | undefined): boolean {
  return Array.isArray(value) && (value.length === 0 || (value.length === 1 && equalJson(value[0], {})));
}

/** Prints `managedFields` as a server writes them. Undefined if no field has an owner. */
export function printManagers(managers: readonly Ownership[]): readonly JsonObject[] | undefined {
  const entries = managers.filter(({ fields }) => !isEmptySet(fields)).toSorted(compareOwnerships);
  if (entries.length === 0) return undefined;
  return entries.map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
    ...{ manager, operation, apiVersion },
    ...(time === undefined ? {} : { time }),
    ...{ fieldsType: 'FieldsV1', fieldsV1: printFieldSet(fields) },
    ...(subresource === undefined ? {} : { subresource }),
  }));
}

/** Returns the manager as messages name it: `"kubectl" with subresource "scale" using apps/v1`. */
export function managerText({ manager, operation, apiVersion, subresource }: Manager): string {
  const through = subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}

function parseOwnership(value: Json): Ownership | undefined {
  if (!isJsonObject(value)) return undefined;
  const { manager = '', operation, apiVersion, time, subresource = '' } = value;
  const fields = parseFieldSet(value.fieldsV1);
  if (fields === undefined || typeof manager !== 'string' || typeof apiVersion !== 'string' || typeof subresource !== 'string') {
    return undefined;
  }
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  return {
    ...{ manager, operation, apiVersion, fields },
    ...(typeof time === 'string' ? { time } : {}),
    ...(subresource === '' ? {} : { subresource }),
  };
}

function compareOwnerships(left: Ownership, right: Ownership): number {
  return (
    compareText(left.operation, right.operation) ||
    compareText(left.time ?? '', right.time ?? '') ||
    compareText(left.manager, right.manager) ||
    compareText(left.apiVersion, right.apiVersion) ||
    compareText(left.subresource ?? '', right.subresource ?? '')
  );
}
