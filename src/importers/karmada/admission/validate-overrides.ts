import type { OverridePolicySpec, OverrideRule } from '../../../propagate/karmada/override-policies.ts';
import type { FieldPatch, Overriders } from '../../../propagate/karmada/overriders.ts';
import { labelKeyProblems, labelValueProblems } from './label-problems.ts';
import { type AdmissionProblem, checkEach, isPresent, problemIf, quoted } from './problems.ts';
import { validateClusterAffinity, validateResourceSelectors } from './validate-affinities.ts';

/**
 * Checks an OverridePolicy or ClusterOverridePolicy as Karmada's admission does. An empty list means that Karmada accepts the policy. The
 * deprecated `overriders` outside of `overrideRules` are not checked.
 *
 * @param namespace The namespace of the policy. Empty for a ClusterOverridePolicy.
 */
export function validateOverrideSpec(
  { targetCluster, overriders, overrideRules, resourceSelectors }: OverridePolicySpec,
  namespace: string | null | undefined,
): readonly AdmissionProblem[] {
  const hasRules = isPresent(overrideRules);
  const isEmpty = emptyOverriders({ overriders: overriders ?? {} }).empty;
  return [
    ...validateClusterAffinity(targetCluster, 'spec.targetCluster'),
    ...problemIf(isPresent(targetCluster) && hasRules, 'spec.targetCluster', 'expected none next to overrideRules'),
    ...problemIf(!isEmpty && hasRules, 'spec.overriders', 'expected none next to overrideRules'),
    ...checkEach(overrideRules, 'spec.overrideRules', validateRule),
    ...validateResourceSelectors(resourceSelectors, namespace),
  ];
}

/** Returns `empty: true` if the overriders have no change that Karmada's admission counts. It does not count `fieldOverrider`. */
export function emptyOverriders({ overriders }: { readonly overriders?: Overriders | null }): { readonly empty: boolean } {
  const { plaintext, imageOverrider, commandOverrider, argsOverrider, labelsOverrider, annotationsOverrider } = overriders ?? {};
  const lists = [plaintext, imageOverrider, commandOverrider, argsOverrider, labelsOverrider, annotationsOverrider];
  return { empty: lists.every((list) => (list ?? []).length === 0) };
}

function validateRule({ targetCluster, overriders }: OverrideRule, path: string): readonly AdmissionProblem[] {
  const below = `${path}.overriders`;
  const { annotationsOverrider, labelsOverrider, imageOverrider, fieldOverrider } = overriders ?? {};
  return [
    ...checkEach(annotationsOverrider, `${below}.annotationsOverrider`, ({ value }, at) => annotationProblems(value ?? {}, `${at}.value`)),
    ...checkEach(labelsOverrider, `${below}.labelsOverrider`, ({ value }, at) => labelProblems(value ?? {}, `${at}.value`)),
    ...checkEach(imageOverrider, `${below}.imageOverrider`, ({ predicate }, at) =>
      pointerProblems(predicate?.path ?? '', `${at}.predicate.path`),
    ),
    ...checkEach(fieldOverrider, `${below}.fieldOverrider`, ({ fieldPath = '', json, yaml }, at) => [
      ...problemIf((json ?? []).length > 0 && (yaml ?? []).length > 0, at, 'expected either json or yaml, got both'),
      ...problemIf((json ?? []).length === 0 && (yaml ?? []).length === 0, at, 'expected either json or yaml, got none'),
      ...pointerProblems(fieldPath, `${at}.fieldPath`),
      ...checkEach(json, `${at}.json`, patchProblems),
      ...checkEach(yaml, `${at}.yaml`, patchProblems),
    ]),
    ...validateClusterAffinity(targetCluster, `${path}.targetCluster`),
  ];
}

function labelProblems(labels: Readonly<Record<string, string>>, path: string): readonly AdmissionProblem[] {
  return Object.entries(labels).flatMap(([key, value]) => [...labelKeyProblems(key, path), ...labelValueProblems(value, key, path)]);
}

/** The API server's limit for all annotations of an object together. */
const maxAnnotationBytes = 262_144;

function annotationProblems(annotations: Readonly<Record<string, string>>, path: string): readonly AdmissionProblem[] {
  const entries = Object.entries(annotations);
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return [
    ...entries.flatMap(([key]) =>
      // Like the API server, converts a key to lower case before its syntax is checked.
      labelKeyProblems(key.toLowerCase(), path),
    ),
    ...problemIf(bytes > maxAnnotationBytes, path, `expected at most ${maxAnnotationBytes} bytes, got ${bytes}`),
  ];
}

function patchProblems({ subPath = '', operator, value }: FieldPatch, path: string): readonly AdmissionProblem[] {
  const needsValue = operator === 'add' || operator === 'replace';
  return [
    ...pointerProblems(subPath, `${path}.subPath`),
    ...problemIf(needsValue && !isPresent(value), `${path}.value`, `is required with ${operator}`),
    ...problemIf(operator === 'remove' && isPresent(value), `${path}.value`, 'expected none with remove'),
  ];
}

/** Returns the problems of a JSON pointer. Karmada checks the slash at the start of a pointer, but not its escapes. */
function pointerProblems(pointer: string, path: string): readonly AdmissionProblem[] {
  return problemIf(pointer !== '' && !pointer.startsWith('/'), path, `expected a JSON pointer such as /data/key, got ${quoted(pointer)}`);
}
