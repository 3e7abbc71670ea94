import type { Json } from '../../core/json.ts';
import type { JsonPatchOperation } from '../../manifests/json-patch-definition.ts';
import { standardPatchPath } from '../../manifests/json-pointer.ts';
import type { FieldOverride, ImageOverride, ListOverride, MapOverride, Override, OverrideOperator } from '../model/spec.ts';

/** Karmada's Overriders (policy/v1alpha1): the changes, without their target clusters. The type of `value` depends on the overrider. */
export interface Overriders {
  readonly imageOverrider?: readonly ImageOverrider[] | null;
  readonly commandOverrider?: readonly CommandOverrider[] | null;
  readonly argsOverrider?: readonly CommandOverrider[] | null;
  readonly labelsOverrider?: readonly MapOverrider[] | null;
  readonly annotationsOverrider?: readonly MapOverrider[] | null;
  readonly fieldOverrider?: readonly FieldOverrider[] | null;
  readonly plaintext?: readonly PlaintextOverrider[] | null;
}

type OverriderOperator = 'add' | 'remove' | 'replace';

interface ImageOverrider {
  readonly predicate?: { readonly path?: string } | null;
  readonly component: 'Registry' | 'Repository' | 'Tag';
  readonly operator: OverriderOperator;
  readonly value?: string;
}

interface CommandOverrider {
  readonly containerName: string;
  readonly operator: OverriderOperator;
  readonly value?: readonly string[] | null;
}

interface MapOverrider {
  readonly operator: OverriderOperator;
  readonly value?: Readonly<Record<string, string>> | null;
}

interface FieldOverrider {
  /** Default: the empty text. */
  readonly fieldPath?: string;
  readonly json?: readonly FieldPatch[] | null;
  readonly yaml?: readonly FieldPatch[] | null;
}

export interface FieldPatch {
  /** Default: the empty text. */
  readonly subPath?: string;
  readonly operator: OverriderOperator;
  readonly value?: Json;
}

interface PlaintextOverrider {
  readonly path: string;
  readonly operator: OverriderOperator;
  readonly value?: Json;
}

const components = { Registry: 'registry', Repository: 'repository', Tag: 'tag' } as const;
const operators: Readonly<Record<OverriderOperator, OverrideOperator>> = { add: 'Add', remove: 'Remove', replace: 'Replace' };

/**
 * Converts one block of overriders to an override for all objects and clusters. Applied by `karmadaOverrideRules`, the override has the
 * same effect as in Karmada.
 */
export function overrideOf(overriders: Overriders): Override {
  return {
    set: {},
    objects: {},
    image: (overriders.imageOverrider ?? []).map(imageOverrideOf),
    command: (overriders.commandOverrider ?? []).map(listOverrideOf),
    args: (overriders.argsOverrider ?? []).map(listOverrideOf),
    env: [],
    labels: (overriders.labelsOverrider ?? []).map(mapOverrideOf),
    annotations: (overriders.annotationsOverrider ?? []).map(mapOverrideOf),
    fields: (overriders.fieldOverrider ?? []).map(fieldOverrideOf),
    jsonPatch: (overriders.plaintext ?? []).map(({ path, operator, value = null }) => ({
      op: operator,
      path: standardPatchPath(path),
      value,
    })),
  };
}

function imageOverrideOf({ predicate, component, operator, value }: ImageOverrider): ImageOverride {
  const path = predicate === undefined || predicate === null ? undefined : (predicate.path ?? '');
  return {
    component: components[component],
    operator: operators[operator],
    scope: 'Main',
    ...(value === undefined ? {} : { value }),
    ...(path === undefined ? {} : { path }),
  };
}

function listOverrideOf({ containerName, operator, value }: CommandOverrider): ListOverride {
  return { container: containerName, operator: operators[operator], values: value ?? [] };
}

function mapOverrideOf({ operator, value }: MapOverrider): MapOverride {
  return { operator: operators[operator], values: value ?? {} };
}

/** Converts a field overrider. If it has both JSON and YAML patches, the YAML patches are used. */
function fieldOverrideOf({ fieldPath = '', json, yaml }: FieldOverrider): FieldOverride {
  const format = (yaml ?? []).length > 0 ? 'yaml' : 'json';
  const patches = (format === 'yaml' ? yaml : json) ?? [];
  const patch = patches.map(
    ({ subPath = '', operator, value = null }): JsonPatchOperation => ({ op: operator, path: standardPatchPath(subPath), value }),
  );
  return { path: fieldPath, format, patch };
}
