import type { MemberCluster } from '../../../changes/members.ts';
import { equalJson } from '../../../core/json/json-values.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts';
import { labelsAt, listAt, objectAt, textAt, valueAt } from '../../../core/json-at.ts';
import { matchesLabelSelector } from '../../../core/selectors.ts';
import { withoutMembers } from '../../../manifests/json-edits.ts';
import { applyJsonPatch } from '../../../manifests/json-patch.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import { type ListRulesAt, mergePatchByKeys, noListRules } from '../../../manifests/merge-patch.ts';
import { containersIn } from '../../../manifests/pod-specs.ts';
import type { Note } from '../../model/notes.ts';
import type { EnvOverride, MapOverride, ObjectMatch, Override } from '../../model/spec.ts';
import { matchesSet } from '../placing/cluster-set.ts';
import { countFieldOf } from '../placing/workload-count.ts';
import { type EditWarning, type FieldEdit, type ItemEdits, unknownContainerWarning, withEdits, withoutEffect } from './edits.ts';
import { musterOverrideRules, type OverrideRules } from './override-rules.ts';

interface OverrideRequest {
  readonly object: Manifest;
  readonly overrides: readonly Override[];
  /** The cluster, which decides the overrides that apply. Default: all of them apply. */
  readonly cluster?: MemberCluster;
  /** Indices of the overrides whose set matches the cluster, ascending. Default: computed by `matchingOverrides`. */
  readonly matching?: readonly number[];
  /** The merge rules for the lists of the kind. Default: no rules, so a merge replaces lists. */
  readonly listRulesAt?: ListRulesAt;
  /** Default: the rules of Muster. */
  readonly rules?: OverrideRules;
}

/**
 * The result of applying overrides to one object. `path` is a path of the input: `overrides[0].jsonPatch[1]`. Messages never contain values
 * of the manifest.
 */
export type OverrideResult =
  | {
      readonly result: 'overridden';
      readonly object: Manifest;
      /** The names of the overrides that changed the object, in order. An override without a name appears as `overrides[2]`. */
      readonly applied: readonly string[];
      /** The names of the overrides that match the cluster but did not change the object: they are for another object, or had no effect. */
      readonly unmatched: readonly string[];
      readonly notes: readonly Note[];
    }
  | { readonly result: 'failed'; readonly path: string; readonly message: string };

/**
 * Applies the overrides that match the cluster to one object (docs/internals/propagation.md 3.5). Depends on the object, the cluster and
 * the overrides only. The given object is not changed.
 *
 * Overrides apply in the order of the list. Within one override, the order is always image, command, args, env, labels, annotations,
 * fields, jsonPatch, merge. Each item applies to the result of the previous one.
 *
 * Fails at the first item that fails, or that changes a protected field: kind, name, namespace, generateName, status, and apiVersion unless
 * `rules` allow that.
 */
export function applyOverrides({
  object,
  overrides,
  cluster,
  matching = cluster === undefined ? [...overrides.keys()] : matchingOverrides(overrides, cluster),
  listRulesAt = noListRules,
  rules = musterOverrideRules,
}: OverrideRequest): OverrideResult {
  const state: OverrideState = { object, notes: [], listRulesAt, rules };
  const applied: string[] = [];
  const unmatched: string[] = [];
  for (const index of matching) {
    const entry = overrides[index];
    if (entry === undefined) continue;
    const path = `overrides[${index}]`;
    const outcome = matchesObject(entry.objects, state.object) ? applyEntry(state, entry, path) : 'untouched';
    if (typeof outcome !== 'string') return { result: 'failed', ...outcome };
    (outcome === 'touched' ? applied : unmatched).push(entry.name ?? path);
  }
  return { result: 'overridden', object: state.object, applied, unmatched, notes: [...state.notes, ...countNotes(object, state.object)] };
}

/** Returns the indices of the overrides whose set matches the cluster. Overrides depend on the cluster in no other way. */
export function matchingOverrides(overrides: readonly Override[], cluster: MemberCluster): readonly number[] {
  return overrides.flatMap(({ set }, index) => (matchesSet(set, cluster) ? [index] : []));
}

/** True if the object meets the `objects` conditions of an override. */
function matchesObject(match: ObjectMatch, object: Manifest): boolean {
  if (match.apiVersion !== undefined && match.apiVersion !== object.apiVersion) return false;
  if (match.kind !== undefined && match.kind !== object.kind) return false;
  if (match.namespace !== undefined && match.namespace !== object.metadata.namespace) return false;
  if (match.name !== undefined && match.name !== object.metadata.name) return false;
  return match.labels === undefined || matchesLabelSelector(match.labels, labelsAt(object, 'metadata', 'labels'));
}

/** The current object and the notes so far, while overrides are applied. */
interface OverrideState {
  object: Manifest;
  readonly notes: Note[];
  readonly listRulesAt: ListRulesAt;
  readonly rules: OverrideRules;
}

interface OverrideFailure {
  readonly path: string;
  readonly message: string;
}

function applyEntry(state: OverrideState, entry: Override, path: string): 'touched' | 'untouched' | OverrideFailure {
  let touched = false;
  for (const { path: below, edit } of overrideItemsOf(entry)) {
    const before = state.object;
    const failure = applyItem(state, edit, path + below) ?? protectedChange(before, state, path + below);
    if (failure !== undefined) return failure;
    touched ||= state.object !== before;
  }
  return touched ? 'touched' : 'untouched';
}

/** One item of an override. `edit` applies it to the current object. */
interface OverrideItem {
  readonly path: string;
  readonly edit: (state: OverrideState) => ItemEdits | PatchedObject;
}

/** The result of an item that changes the object as a whole: `jsonPatch` and `merge`. */
type PatchedObject = { readonly result: 'object'; readonly object: Json };

function overrideItemsOf(entry: Override): readonly OverrideItem[] {
  return [
    ...entry.image.map((item, at) => ({
      path: `.image[${at}]`,
      edit: ({ object, rules }: OverrideState) => rules.image(object, item),
    })),
    ...entry.command.map((item, at) => ({
      path: `.command[${at}]`,
      edit: ({ object, rules }: OverrideState) => rules.list(object, 'command', item),
    })),
    ...entry.args.map((item, at) => ({
      path: `.args[${at}]`,
      edit: ({ object, rules }: OverrideState) => rules.list(object, 'args', item),
    })),
    ...entry.env.map((item, at) => ({ path: `.env[${at}]`, edit: ({ object }: OverrideState) => overrideEnv(object, item) })),
    ...entry.labels.map((item, at) => ({
      path: `.labels[${at}]`,
      edit: ({ object }: OverrideState) => overrideMap(object, 'labels', item),
    })),
    ...entry.annotations.map((item, at) => ({
      path: `.annotations[${at}]`,
      edit: ({ object }: OverrideState) => overrideMap(object, 'annotations', item),
    })),
    ...entry.fields.map((item, at) => ({
      path: `.fields[${at}]`,
      edit: ({ object, rules }: OverrideState) => rules.field(object, item),
    })),
    ...(entry.jsonPatch.length === 0 ? [] : [{ path: '.jsonPatch', edit: (state: OverrideState) => patched(state, entry) }]),
    ...(entry.merge === undefined ? [] : [{ path: '.merge', edit: merged(entry.merge) }]),
  ];
}

function patched({ object, rules }: OverrideState, { jsonPatch }: Override): ItemEdits | PatchedObject {
  const applied = applyJsonPatch(object, jsonPatch, rules.adaptPatch);
  if (applied.result === 'failed') return { result: 'failed', path: `[${applied.index}]`, message: applied.message };
  return { result: 'object', object: applied.document };
}

function merged(patch: JsonObject): OverrideItem['edit'] {
  return ({ object, listRulesAt }) => ({ result: 'object', object: mergePatchByKeys(object, patch, listRulesAt) });
}

function applyItem(state: OverrideState, edit: OverrideItem['edit'], path: string): OverrideFailure | undefined {
  const edited = edit(state);
  switch (edited.result) {
    case 'failed':
      return { path: path + edited.path, message: edited.message };
    case 'object':
      // The result may not be a manifest any more. `protectedChange` refuses it before it is used.
      state.object = edited.object as Manifest;
      return undefined;
    case 'edits':
      state.object = withEdits(state.object, edited.edits);
      for (const { code, path: below, message } of edited.warnings) {
        state.notes.push({ severity: 'WARNING', code, message, path: path + below });
      }
      return undefined;
    default:
      return edited satisfies never;
  }
}

const identityFields = [
  ['apiVersion'],
  ['kind'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
  ['metadata', 'generateName'],
  ['status'],
];

function protectedChange(before: Manifest, { object, rules }: OverrideState, path: string): OverrideFailure | undefined {
  const after: Json = object;
  if (before === after) return undefined;
  const metadata = valueAt(after, 'metadata');
  if (!isJsonObject(after) || !isJsonObject(metadata)) return { path, message: 'expected an object with metadata after the override' };
  const fields = rules.mayChangeVersion === true ? identityFields.filter(([field]) => field !== 'apiVersion') : identityFields;
  const changed = fields.find((keys) => !equalJson(valueAt(before, ...keys), valueAt(after, ...keys)));
  return changed === undefined ? undefined : { path, message: `an override cannot change ${changed.join('.')}` };
}

/** Returns a warning if an override changes the replica count. The override wins over the division of replicas. */
function countNotes(before: Manifest, after: Manifest): readonly Note[] {
  const field = countFieldOf(before);
  if (field === undefined || equalJson(valueAt(before, 'spec', field), valueAt(after, 'spec', field))) return [];
  const message = `an override sets spec.${field} of ${before.kind} ${JSON.stringify(before.metadata.name)} and replaces the planned number`;
  return [{ severity: 'WARNING', code: 'COUNT_OVERRIDDEN', message, path: 'overrides' }];
}

/**
 * Changes one environment variable of one container, or of all containers including init containers. Add sets the variable: at its position
 * if it exists, else at the end. Replace and Remove change existing variables only, and give a warning if there is none.
 */
function overrideEnv(object: Manifest, item: EnvOverride): ItemEdits {
  const named = containersIn(object, 'All').filter(({ name }) => item.container === undefined || name === item.container);
  if (item.container !== undefined && named.length === 0) {
    return { result: 'edits', edits: [], warnings: [unknownContainerWarning(item.container, '.container')] };
  }
  const edits: FieldEdit[] = named.flatMap(({ path, container }) => {
    const value = changedEnv(listAt(container, 'env'), item);
    return value === undefined ? [] : [{ path: [...path, 'env'], value, replaces: valueAt(container, 'env') !== undefined }];
  });
  if (edits.length > 0) return { result: 'edits', edits, warnings: [] };
  return withoutEffect(`expected a container with the variable ${JSON.stringify(item.name)}, got none`, '.name');
}

/** Returns the list with one variable added, replaced or removed. Undefined if the variable to replace or remove does not exist. */
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

/**
 * Changes labels or annotations of the object itself. Add sets them. Replace and Remove change existing keys only, and give a warning for
 * each missing key. Remove ignores the values.
 */
function overrideMap(object: Manifest, field: 'labels' | 'annotations', { operator, values }: MapOverride): ItemEdits {
  const map = objectAt(object, 'metadata', field);
  const touched = Object.entries(values).filter(([key]) => operator === 'Add' || Object.hasOwn(map, key));
  const warnings: readonly EditWarning[] = Object.keys(values)
    .filter((key) => operator !== 'Add' && !Object.hasOwn(map, key))
    .map((key) => ({
      code: 'OVERRIDE_WITHOUT_EFFECT',
      path: '.values',
      message: `the object has no ${field} with the key ${JSON.stringify(key)}, so this changes nothing`,
    }));
  if (touched.length === 0) return { result: 'edits', edits: [], warnings };
  const replaces = valueAt(object, 'metadata', field) !== undefined;
  const keys = touched.map(([key]) => key);
  const value: JsonObject = operator === 'Remove' ? withoutMembers(map, keys) : Object.fromEntries([...Object.entries(map), ...touched]);
  return { result: 'edits', edits: [{ path: ['metadata', field], value, replaces }], warnings };
}
