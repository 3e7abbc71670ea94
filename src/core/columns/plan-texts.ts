import { type AnsweredKey, answeredKeyFields } from './object-names.ts';

/** A warning or an error about an intent. */
export interface IntentNote {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly path: string | null;
}

/** The planned change of one object, with faults as the client selects them. */
export interface AnsweredObjectPlan<Fault> {
  readonly key: AnsweredKey;
  readonly action: string;
  readonly diff: string | null;
  readonly predicted: boolean;
  readonly conflicts: readonly { readonly manager: string; readonly path: string }[];
  readonly fault: Fault | null;
}

/** The planned changes of one cluster. */
export interface AnsweredClusterPlan<Fault> {
  readonly cluster: { readonly name: string };
  readonly chosen: boolean;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly wave: number | null;
  readonly share: { readonly from: number; readonly to: number } | null;
  readonly overrides: readonly string[];
  readonly unmatched: readonly string[];
  readonly objects: readonly AnsweredObjectPlan<Fault>[];
  readonly fault: Fault | null;
}

/** A plan, as `planSelection` selects it. */
export interface AnsweredPlan<Fault> {
  readonly digest: string;
  readonly ok: boolean;
  readonly desired: number | null;
  readonly placed: number | null;
  readonly unplaced: number;
  readonly waves: readonly string[];
  readonly clusters: readonly AnsweredClusterPlan<Fault>[];
  readonly notes: readonly IntentNote[];
  readonly faults: readonly Fault[];
  /** How current the data of the plan is. */
  readonly sync?: readonly { readonly phase: string }[];
}

/** The GraphQL selection that gives an `IntentNote`. */
export const noteFields = 'severity code message path';

/**
 * Returns the GraphQL selection that gives an `AnsweredPlan`.
 *
 * @param faultFields The selection of each fault.
 * @param more Further fields, by the object that has them. Default: none.
 */
export function planSelection(
  faultFields: string,
  {
    cluster = '',
    share = '',
    object = '',
    sync = '',
  }: { readonly cluster?: string; readonly share?: string; readonly object?: string; readonly sync?: string } = {},
): string {
  return `digest ok asOf desired placed unplaced waves notes { ${noteFields} } faults { ${faultFields} }
    sync { phase cluster { name } ${sync} }
    clusters {
      cluster { name } chosen reason detail wave ${cluster} share { from to ${share} } overrides unmatched fault { ${faultFields} }
      objects {
        key { ${answeredKeyFields} } action diff predicted conflicts { manager path } fault { ${faultFields} } ${object}
      }
    }`;
}

/** Returns `UNMATCHED_OVERRIDE overrides[1].image: no container is called webb`. */
export function noteText({ code, message, path }: IntentNote): string {
  return `${code}${path === null ? '' : ` ${path}`}: ${message}`;
}

/** Returns `yes`, or `no` with the reason. */
export function chosenText({ chosen, reason, detail }: Pick<AnsweredClusterPlan<unknown>, 'chosen' | 'reason' | 'detail'>): string {
  return chosen ? 'yes' : `no${reason === null ? '' : `: ${reason}`}${detail === null ? '' : ` ${detail}`}`;
}

/** Returns `4`, or `2→4` if the number of replicas changes. Empty for a cluster without replicas. */
export function shareText(share: AnsweredClusterPlan<unknown>['share']): string {
  if (share === null) return '';
  return share.from === share.to ? String(share.to) : `${share.from}→${share.to}`;
}

/**
 * Returns `CREATE`, or for several objects `CREATE 2, UNCHANGED 1`. An object that the cluster refuses counts under its fault code, such
 * as `INVALID`.
 */
export function actionsText({ objects, fault }: AnsweredClusterPlan<{ readonly code: string }>): string {
  if (fault !== null) return fault.code;
  const counts = new Map<string, number>();
  for (const { action, fault: refusal } of objects) {
    const word = refusal?.code ?? action;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => (objects.length === 1 ? word : `${word} ${count}`)).join(', ');
}
