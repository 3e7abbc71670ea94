import { compareText } from './text.ts';

const stages: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

/**
 * Compares API versions as Kubernetes does, the best one first. GA precedes beta, beta precedes alpha, then the higher number wins: `v2`,
 * `v1`, `v1beta2`, `v1beta1`, `v1alpha1`. All other names follow, by their code units.
 */
export function compareApiVersions(a: string, b: string): number {
  const [left, right] = [ranked(a), ranked(b)];
  if (left === undefined || right === undefined) return left === right ? compareText(a, b) : left === undefined ? 1 : -1;
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor || compareText(a, b);
}

function ranked(version: string): { readonly stage: number; readonly major: number; readonly minor: number } | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return undefined;
  const [, major, stage, minor] = match;
  return { stage: stage === undefined ? 2 : (stages[stage] ?? 0), major: Number(major), minor: Number(minor ?? 0) };
}
