import { isJsonObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import { listAt, objectAt, textAt, valueAt } from '../../../src/core/json-at.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { portableOf } from '../../../src/manifests/portable-object.ts';
import { mergeSuspension } from '../../../src/propagate/karmada/dispatch.ts';
import { recordManagedAnnotations, recordManagedLabels, withForeignKeys } from '../../../src/propagate/plan/copies/managed-keys.ts';
import { retainFieldsOfKind } from '../../../src/propagate/plan/copies/retain-fields.ts';
import { parseImageReference, splitRegistry } from '../../../src/propagate/plan/overrides/image-reference.ts';
import { dependenciesOf, labelledDependenciesOf } from '../../../src/propagate/plan/snapshot/dependencies.ts';
import { conflictResolution, suspendDispatching } from './karmada/dispatch.ts';
import { applyPolicies, matchPolicies } from './karmada/override-policies.ts';
import { applyAnnotations, applyLabels, applyOverriders, argsPatches, commandPatches, imagePatches } from './karmada/overriders.ts';
import { prepareReplace } from './karmada/retention.ts';
import { sameAnswer, type VectorOp, type VectorOps, vectorOp } from './vector.ts';

const karmada = 'resourcetemplate.karmada.io';

interface Pair {
  readonly desired: JsonObject;
  readonly observed: JsonObject;
}

/** Creates an operation that answers with the object. Compares the whole object, or only the fields that the expectation names. */
function retaining(kind: string): VectorOp {
  return vectorOp<Pair>(({ desired, observed }) => {
    const retained = retainFieldsOfKind(kind, desired, observed);
    return retained.result === 'failed' ? { error: true } : { object: retained.object };
  }, sameFields);
}

/** Compares the object of an answer, or only the fields that the expectation names by their paths. */
export function sameFields(got: unknown, expected: Json): boolean {
  if (!isJsonObject(expected) || 'object' in expected || 'error' in expected) return sameAnswer(got, expected);
  const { object } = got as { readonly object?: JsonObject };
  return (
    object !== undefined &&
    Object.entries(expected).every(([path, value]) => sameAnswer(valueAt(object, ...path.split('.')), value ?? null))
  );
}

function retainingKeys(field: 'labels' | 'annotations'): VectorOp {
  return vectorOp<Pair>(({ desired, observed }) => ({ object: withForeignKeys(desired, observed, { field, prefix: karmada }) }));
}

/** True if the answer fits the expectation: paths that must be missing, paths that must exist, and names of secrets. */
function prunedAsExpected(got: unknown, expected: Json): boolean {
  const pruned = got as JsonObject;
  const at = (path: Json): Json | undefined => valueAt(pruned, ...(path as readonly string[]));
  const secrets = listAt(pruned, 'secrets').map((secret) => textAt(secret, 'name'));
  const names = (key: string): readonly (string | undefined)[] =>
    listAt(expected, key).map((name) => (isJsonObject(name) ? textAt(name, 'name') : String(name)));
  return (
    listAt(expected, 'absentPaths').every((path) => at(path) === undefined) &&
    listAt(expected, 'presentPaths').every((path) => at(path) !== undefined) &&
    names('secretsContain').every((name) => secrets.includes(name)) &&
    names('secretsDoNotContain').every((name) => !secrets.includes(name))
  );
}

/** Returns the dependencies by name, followed by those by label. */
function allDependencies(object: Manifest): readonly object[] {
  const labelled = labelledDependenciesOf(object).map(({ labels, ...key }) => ({ ...key, labelSelector: { matchLabels: labels } }));
  return [...dependenciesOf(object), ...labelled];
}

/** Turns kind `pod` into a valid `Pod`, because one upstream case passes that invalid kind. */
function asPod(object: Manifest): Manifest {
  return object.kind === 'pod' ? { ...object, apiVersion: 'v1', kind: 'Pod' } : object;
}

const overriders: VectorOps[string] = {
  imagePatches: vectorOp(imagePatches),
  commandPatches: vectorOp(commandPatches),
  argsPatches: vectorOp(argsPatches),
  applyLabels: vectorOp(applyLabels),
  applyAnnotations: vectorOp(applyAnnotations),
  matchPolicies: vectorOp(matchPolicies),
  applyPolicies: vectorOp((input: Parameters<typeof applyPolicies>[0]) => {
    const { object, ...applied } = applyPolicies(input);
    return {
      labels: objectAt(object, 'metadata', 'labels'),
      annotations: objectAt(object, 'metadata', 'annotations'),
      data: object.data,
      ...applied,
    };
  }),
};

/** Operations that render a template for a cluster. Each op has its function and the comparison of its answers. */
export const renderingVectors: VectorOps = {
  'karmada-overriders': overriders,
  'karmada-overriders-executed': { '': vectorOp(applyOverriders) },
  'karmada-image-parse': {
    parse: vectorOp(({ image }: { readonly image: string }) => parseImageReference(image) ?? { error: true }),
    splitHostname: vectorOp(({ name }: { readonly name: string }) => splitRegistry(name)),
  },
  'karmada-retain': {
    retainDeployment: retaining('Deployment.apps'),
    retainSecret: retaining('Secret'),
    retainPersistentVolumeClaim: retaining('PersistentVolumeClaim'),
    retainPersistentVolume: retaining('PersistentVolume'),
    retainJob: retaining('Job.batch'),
    retainService: retaining('Service'),
    retainServiceAccount: retaining('ServiceAccount'),
    retainPod: retaining('Pod'),
    retainAnnotations: retainingKeys('annotations'),
    retainLabels: retainingKeys('labels'),
    recordManagedAnnotations: vectorOp(({ object }: { readonly object: JsonObject }) => ({
      object: recordManagedAnnotations(object, karmada),
    })),
    recordManagedLabels: vectorOp(({ object }: { readonly object: JsonObject }) => ({ object: recordManagedLabels(object, karmada) })),
    prune: vectorOp(
      ({ object, removeJobTTL }: { readonly object: JsonObject; readonly removeJobTTL: boolean }) =>
        portableOf(object, { removeJobTtl: removeJobTTL, keepsSecondToken: true }),
      prunedAsExpected,
    ),
  },
  'karmada-retain-executed': { '': vectorOp(prepareReplace) },
  'karmada-dispatch': {
    suspendDispatching: vectorOp(suspendDispatching),
    conflictResolution: vectorOp(conflictResolution),
    mergeSuspension: vectorOp(mergeSuspension),
  },
  'karmada-dependencies': {
    dependencies: vectorOp(({ object }: { readonly object: Manifest }) => ({ dependencies: allDependencies(asPod(object)) }), {
      unordered: ['dependencies'],
    }),
  },
};
