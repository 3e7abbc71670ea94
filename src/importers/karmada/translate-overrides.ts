import { printDocument } from '../../core/json/documents.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { listAt, textAt } from '../../core/json-at.ts';
import { standardPatchPath } from '../../manifests/json-pointer.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { containersIn } from '../../manifests/pod-specs.ts';
import { overrideRulesOf } from '../../propagate/karmada/override-policies.ts';
import { type Overriders, overrideOf } from '../../propagate/karmada/overriders.ts';
import { override } from '../../propagate/model/override-definition.ts';
import type { AddNote, ImportClusters } from '../clusters/import-clusters.ts';
import type { ImportNote } from '../model/import-result.ts';
import type { ImportedOverridePolicy } from './policies/read-policies.ts';
import { type PartScope, scopeBelow, translateSet } from './translate-sets.ts';

/** The rules of an override policy, each as an entry of `overrides` without its objects. */
export interface TranslatedOverrides {
  readonly rules: readonly TranslatedRule[];
  readonly notes: readonly ImportNote[];
}

/** One rule. `path` is the path of its overriders in the input. */
interface TranslatedRule {
  readonly path: string;
  readonly entry: JsonObject;
}

/** An object of a template, for the overrides that apply to it. */
export interface OverrideTarget {
  readonly manifest: Manifest;
  /** The version in which the document has the object. `manifest` has the version of the template, which may be newer. */
  readonly writtenVersion: string;
  /** True if the template has other objects too. Then the entry names its object. */
  readonly isOneOfMany: boolean;
}

/** Translates an override policy once for all objects. The deprecated form without rules counts as one rule. Rules without changes are left out. */
export function translateOverridePolicy(
  { document, name, spec, notes }: ImportedOverridePolicy,
  clusters: ImportClusters,
): TranslatedOverrides {
  const all: ImportNote[] = [...notes];
  const scope: PartScope = { clusters, path: `${document.path}.spec`, addNote: (note) => all.push(note) };
  const rules = overrideRulesOf(spec);
  const isList = (spec.overrideRules ?? []).length > 0;
  const translated = rules.flatMap((rule, index): readonly TranslatedRule[] => {
    const at = isList ? scopeBelow(scope, `overrideRules[${index}]`) : scope;
    const below = scopeBelow(at, 'overriders');
    const changes = changesOf(rule.overriders ?? {}, below);
    if (Object.keys(changes).length === 0) return [];
    const set = translateSet(rule.targetCluster ?? {}, scopeBelow(at, 'targetCluster'));
    const entryName = rules.length === 1 ? name : `${name}[${index}]`;
    return [{ path: below.path, entry: { name: entryName, ...(Object.keys(set).length === 0 ? {} : { set }), ...changes } }];
  });
  return { rules: translated, notes: all };
}

/**
 * Yields the entries of `overrides` for one object. Changes of containers are left out if the object has none. A policy may have thousands
 * of rules, so the caller should stop once it has too many entries.
 */
export function* overridesFor(
  { rules }: TranslatedOverrides,
  { manifest, writtenVersion, isOneOfMany }: OverrideTarget,
  scope: Omit<PartScope, 'path'>,
): Generator<JsonObject, undefined> {
  const hasContainers = containersIn(manifest, 'All').length > 0;
  for (const { path, entry } of rules) {
    const fitting = hasContainers ? entry : withoutContainers(entry);
    if (Object.keys(fitting).every((member) => member === 'name' || member === 'set')) continue;
    if (writtenVersion !== manifest.apiVersion) noteOldVersion(fitting, { manifest, writtenVersion }, { ...scope, path });
    if (!scope.clusters.isExact) noteContainers(fitting, manifest, { ...scope, path });
    const { name, set, ...changes } = fitting;
    yield { name, ...(set === undefined ? {} : { set }), ...(isOneOfMany ? { objects: keyOf(manifest) } : {}), ...changes };
  }
}

/** Returns the changes of a rule. Reports a note for each change that has no counterpart or another effect in a Propagation. */
function changesOf(overriders: Overriders, scope: PartScope): JsonObject {
  const { addNote, path, clusters } = scope;
  const difference = (code: string, at: string, message: string) => {
    if (!clusters.isExact) addNote({ severity: 'INFO', code, message, path: `${path}.${at}` });
  };
  for (const list of ['commandOverrider', 'argsOverrider'] as const) {
    (overriders[list] ?? []).forEach(({ operator }, index) => {
      if (operator === 'replace') difference('REPLACE_IGNORED', `${list}[${index}]`, 'Karmada ignores replace here, Muster sets the list');
    });
  }
  const fieldOverrider = (overriders.fieldOverrider ?? []).filter(({ json, yaml }, index) => {
    const [hasJson, hasYaml] = [json, yaml].map((patch) => (patch ?? []).length > 0);
    const at = `fieldOverrider[${index}]`;
    if (hasJson === true && hasYaml === true) dropped(addNote, `${path}.${at}.json`, 'the json has no effect next to yaml, as in Karmada');
    if (hasJson === true || hasYaml === true) return true;
    difference(
      'FIELD_EMPTIED',
      at,
      'Karmada empties the field, because the overrider has no json and no yaml. Muster leaves the field as it is',
    );
    return clusters.isExact;
  });
  (overriders.plaintext ?? []).forEach(({ path: written }, index) => {
    const pointer = standardPatchPath(written);
    if (pointer === written) return;
    const message = `Karmada reads the path ${JSON.stringify(written)} as the JSON pointer ${JSON.stringify(pointer)}, so the Propagation has the pointer`;
    addNote({ severity: 'INFO', code: 'PATH_CONVERTED', message, path: `${path}.plaintext[${index}].path` });
  });
  const imageOverrider = imagesOf(overriders, scope);
  const { set: _set, objects: _objects, ...changes } = overrideOf({ ...overriders, fieldOverrider, imageOverrider });
  const printed = printDocument(override, { set: {}, objects: {}, ...changes });
  return isJsonObject(printed) ? printed : {};
}

/**
 * Returns the image overriders that Muster accepts. Muster refuses empty values. `replace` of the registry with an empty value becomes
 * `remove`, as in Karmada. All other empty values are left out, with a note.
 */
function imagesOf({ imageOverrider }: Overriders, { addNote, path }: PartScope): NonNullable<Overriders['imageOverrider']> {
  return (imageOverrider ?? []).flatMap((item, index) => {
    const { component, operator, value = '' } = item;
    if (operator === 'remove' || value !== '') return [item];
    if (component === 'Registry' && operator === 'replace') return [{ ...item, operator: 'remove' as const }];
    dropped(addNote, `${path}.imageOverrider[${index}]`, `expected a value with ${operator}, got none`);
    return [];
  });
}

function dropped(addNote: AddNote, path: string, message: string): void {
  addNote({ severity: 'WARNING', code: 'DROPPED', message, path });
}

/** Leaves out the changes of containers, for an object without containers. Neither system changes such an object. */
function withoutContainers(entry: JsonObject): JsonObject {
  const { command: _command, args: _args, image: _image, ...rest } = entry;
  const image = listAt(entry, 'image').filter((item) => isJsonObject(item) && item.path !== undefined);
  return image.length === 0 ? rest : { ...rest, image };
}

/** The paths of fields that an old version of a converted kind may have in another form, or with another meaning. */
const versionedPaths = /^\/(?:apiVersion|spec(?:\/(?:metrics|selector|scaleTargetRef)(?:\/.*)?)?)$/s;

/** Reports the operations of a rule that are written for the old version of the object, because overrides of Karmada are not converted. */
function noteOldVersion(
  entry: JsonObject,
  { manifest, writtenVersion }: Omit<OverrideTarget, 'isOneOfMany'>,
  { addNote, path }: Pick<PartScope, 'addNote' | 'path'>,
): void {
  for (const operation of listAt(entry, 'jsonPatch')) {
    const changed = textAt(operation, 'path') ?? '';
    if (!versionedPaths.test(changed)) continue;
    const versions = `${manifest.kind} ${manifest.metadata.name} was converted to ${manifest.apiVersion}`;
    const message = `${changed} is written for ${writtenVersion}, and is not converted. ${versions}: check what the operation changes there`;
    addNote({ severity: 'WARNING', code: 'UNSUPPORTED', message, path: `${path}.plaintext` });
  }
}

/** The kinds whose containers Karmada changes. */
const coveredKinds: ReadonlySet<string> = new Set(['Pod', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job']);

function noteContainers(entry: JsonObject, manifest: Manifest, { addNote, path }: PartScope): void {
  const images = listAt(entry, 'image').some((item) => isJsonObject(item) && item.path === undefined);
  const lists = listAt(entry, 'command').length + listAt(entry, 'args').length > 0;
  if (!coveredKinds.has(manifest.kind) && (images || lists)) {
    const message = `Karmada changes no containers of ${manifest.kind}, Muster does`;
    addNote({ severity: 'INFO', code: 'KIND_NOT_COVERED', message, path });
  }
  if (images && containersIn(manifest, 'Init').length > 0) {
    const message = 'as in Karmada, the images of init containers stay. Scope All in the Propagation would change them too';
    addNote({ severity: 'INFO', code: 'INIT_CONTAINERS', message, path: `${path}.imageOverrider` });
  }
}

function keyOf({ apiVersion, kind, metadata: { name } }: Manifest): JsonObject {
  return { apiVersion, kind, name };
}
