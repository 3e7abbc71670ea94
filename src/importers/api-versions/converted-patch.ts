import { equalJson } from '../../core/json/json-values.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { textAt } from '../../core/json-at.ts';
import type { PatchAdapter } from '../../manifests/json-patch.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';
import { patchBetween } from '../../manifests/patch-between.ts';
import { adaptedPatch } from '../documents/adapted-patch.ts';
import { infoNote, warningNote } from '../model/import-notes.ts';
import type { ImportNote } from '../model/import-result.ts';
import { nameListOf } from '../model/name-list.ts';
import { type ConversionOptions, currentObjectOf } from './current-api.ts';

/** An operation of a patch, with its path in the input. */
export interface LocatedPatchOperation {
  readonly operation: JsonPatchOperation;
  readonly at: string;
}

/** The object that a patch changes, with the options of its conversion. */
export interface PatchedTemplate extends ConversionOptions {
  /** The object as its system has it, possibly in an old version. */
  readonly written: JsonObject;
  /** The same object after `currentObjectOf` with these options. */
  readonly current: JsonObject;
}

interface PatchRules {
  /** Returns the operations of RFC 6902 that replace one operation of the system. */
  readonly adapt: PatchAdapter;
  /** True: the planner itself adapts operations, so they stay as they are. */
  readonly isAdaptedByPlan: boolean;
}

/** A patch of the object in its current version. */
export interface ConvertedPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** The given operations that remain, and that `adapt` changed. */
  readonly changed: readonly LocatedPatchOperation[];
  /** The operation that fails, if the patch stays as it is and a plan will report it. */
  readonly failing?: FailingOperation;
  readonly notes: readonly ImportNote[];
}

/** An operation that cannot be applied to the template. */
export interface FailingOperation extends LocatedPatchOperation {
  /** Why it fails, with pointers and without values. */
  readonly problem: string;
}

/**
 * Converts the patch of an object in an old version to a patch of the object in its current version. The result of the patch is the patched
 * old object, converted. Operations stay as they are where both versions are equal. Where the versions differ, operations are replaced or
 * added, with the note `API_CONVERTED`.
 *
 * A patch stays as it is, with a warning, if it fails on the old object, or if the patched object cannot be converted to the current version.
 */
export function convertedPatch(template: PatchedTemplate, operations: readonly LocatedPatchOperation[], rules: PatchRules): ConvertedPatch {
  const { written, current } = template;
  const { patched, failed, ...unchanged } = adapted(current, operations, rules);
  const old = written === current ? { patched, failed: undefined } : adapted(written, operations, rules);
  if (!isJsonObject(old.patched)) {
    // A plan reports an operation that fails on the template. It cannot report one that fails only on the old template.
    return old.failed === undefined
      ? { ...unchanged, ...(failed === undefined ? {} : { failing: failed }), notes: [] }
      : { operations: operations.map(({ operation }) => operation), changed: [], notes: [failingNote(old.failed, template)] };
  }
  const wanted = currentObjectOf(old.patched, '', template).object;
  if (patched !== undefined && equalJson(patched, wanted)) return { ...unchanged, notes: [] };
  if (wanted.apiVersion !== current.apiVersion)
    return { ...unchanged, changed: [], notes: operations.map((one) => stayingNote(one, template)) };
  const equal = adapted(
    current,
    operations.filter(({ operation }) => !hasOldField(operation)),
    rules,
  );
  const kept = equal.patched === undefined ? adapted(current, [], rules) : equal;
  const added = patchBetween(kept.patched ?? current, wanted);
  const replaced = operations.filter((one) => !kept.given.includes(one));
  const converted = replaced.length > 0 ? replaced : relatedTo(added, operations);
  return {
    operations: [...kept.operations, ...added],
    changed: kept.changed,
    notes: converted.map((one) => convertedNote(one, added, template)),
  };
}

interface AdaptedOperations extends Pick<ConvertedPatch, 'operations' | 'changed'> {
  readonly given: readonly LocatedPatchOperation[];
  /** The patched object. Undefined: `failed` cannot be applied. */
  readonly patched: Json | undefined;
  readonly failed: FailingOperation | undefined;
}

function adapted(object: JsonObject, given: readonly LocatedPatchOperation[], { adapt, isAdaptedByPlan }: PatchRules): AdaptedOperations {
  const written = given.map(({ operation }) => operation);
  const { operations, changed, patched, failed, problem } = adaptedPatch(object, written, adapt);
  const failing = given[failed];
  return {
    given,
    operations: isAdaptedByPlan ? written : operations,
    changed: isAdaptedByPlan ? [] : changed.flatMap((index) => given[index] ?? []),
    patched,
    failed: failing && { ...failing, problem },
  };
}

/** True if the operation changes a field that only old versions have, or that they have in another form. */
function hasOldField({ path }: JsonPatchOperation): boolean {
  return /^\/spec(\/(backend|rules|rollbackTo|templateGeneration)(\/.*)?)?$/s.test(path);
}

/** Returns the operations that change the same field of `spec` as the added ones. All operations if there are none. */
function relatedTo(added: readonly JsonPatchOperation[], operations: readonly LocatedPatchOperation[]): readonly LocatedPatchOperation[] {
  const fieldOf = ({ path }: JsonPatchOperation) => path.split('/', 3).join('/');
  const fields = new Set(added.map(fieldOf));
  const related = operations.filter(({ operation }) => fields.has(fieldOf(operation)));
  return related.length === 0 ? operations : related;
}

function versionOf(object: JsonObject): string {
  return textAt(object, 'apiVersion') ?? 'no version';
}

function convertedNote(
  { at, operation }: LocatedPatchOperation,
  added: readonly JsonPatchOperation[],
  template: PatchedTemplate,
): ImportNote {
  const now = added.length === 0 ? 'it has no effect' : `the patch has ${nameListOf(added.map(({ op, path }) => `${op} ${path}`))}`;
  const old = template.written === template.current ? 'an old version' : versionOf(template.written);
  const message = `${operation.path} is written for ${old}: for ${versionOf(template.current)}, ${now}`;
  return infoNote('API_CONVERTED', at, message);
}

function failingNote({ at, operation: { op, path } }: LocatedPatchOperation, { written, current }: PatchedTemplate): ImportNote {
  const message = `${op} ${path} fails on the template of ${versionOf(written)}, and is not converted to ${versionOf(current)}: correct it`;
  return warningNote('UNSUPPORTED', at, message);
}

function stayingNote({ at, operation: { path } }: LocatedPatchOperation, { current }: PatchedTemplate): ImportNote {
  const message = `${path} stays as it is, because the patched object cannot be converted to ${versionOf(current)}: write it for this version`;
  return warningNote('UNSUPPORTED', at, message);
}
