import type { Fault } from '../../core/faults.ts';
import type { Visibility } from '../access.ts';
import type { Verdict } from './decisions.ts';

/** The kind and the namespaces for which a visibility is computed. */
export interface VisibilityScope {
  /** False for a kind without namespaces: only the decision for the whole cluster counts. */
  readonly isNamespaced: boolean;
  /** Returns the namespaces in which the caller may have rights. */
  readonly candidates: () => readonly string[];
  /** The namespaces that the request names. Default: the candidates. */
  readonly named?: readonly string[] | undefined;
  /** Returns the fault for a caller without rights. */
  readonly forbidden: () => Fault;
}

/** The visibility, if all decisions that it needs are known. */
export type SettledVisibility =
  /** `namespaces` are those whose decisions the visibility follows from, with `''` for all together. */
  | { readonly type: 'settled'; readonly visibility: Visibility; readonly namespaces: readonly string[] }
  /** Decisions about these namespaces are missing. */
  | { readonly type: 'missing'; readonly namespaces: readonly string[] };

/**
 * Returns the visibility that follows from the decisions of `verdictOf`, or the namespaces whose decisions are missing. If all namespaces
 * together (`''`) are denied, the named namespaces are decided one by one, or the candidates if none is named. If every named namespace is
 * denied, the candidates are decided too: a caller with the right in one of them gets an empty set of namespaces, any other caller gets `none`.
 */
export function visibilityFrom(
  verdictOf: (namespace: string) => Verdict | undefined,
  { isNamespaced, candidates, named, forbidden }: VisibilityScope,
): SettledVisibility {
  const all = verdictOf('');
  if (all === undefined) return { type: 'missing', namespaces: [''] };
  if (all.isAllowed) return settled({ type: 'all' }, []);
  if (all.fault !== undefined || !isNamespaced) return settled({ type: 'none', fault: all.fault ?? forbidden() }, []);
  const first = named ?? candidates();
  const wanted = allowedAmong(first, verdictOf);
  if (wanted.missing.length > 0) return { type: 'missing', namespaces: wanted.missing };
  const { allowed, fault } = wanted;
  if (allowed.size > 0) return settled({ type: 'namespaces', namespaces: allowed, fault }, first);
  const others = named === undefined ? [] : candidates();
  const elsewhere = named === undefined ? wanted : allowedAmong(others, verdictOf);
  if (elsewhere.missing.length > 0) return { type: 'missing', namespaces: elsewhere.missing };
  const decided = [...first, ...others];
  if (elsewhere.allowed.size > 0) return settled({ type: 'namespaces', namespaces: allowed, fault }, decided);
  return settled({ type: 'none', fault: fault ?? elsewhere.fault ?? forbidden() }, decided);
}

function settled(visibility: Visibility, namespaces: readonly string[]): SettledVisibility {
  return { type: 'settled', visibility, namespaces: ['', ...namespaces] };
}

function allowedAmong(namespaces: readonly string[], verdictOf: (namespace: string) => Verdict | undefined) {
  const allowed = new Set<string>();
  const missing: string[] = [];
  let fault: Fault | undefined;
  for (const namespace of namespaces) {
    const verdict = verdictOf(namespace);
    if (verdict === undefined) missing.push(namespace);
    else if (verdict.isAllowed) allowed.add(namespace);
    else fault ??= verdict.fault;
  }
  return { allowed, missing, fault };
}
