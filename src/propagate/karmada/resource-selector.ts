import { readDocument } from '../../core/json/documents.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { type LabelSelector, matchesLabelSelector } from '../../core/selectors.ts';
import { compareText } from '../../core/text.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { labelSelector } from '../model/cluster-set-definition.ts';

/** Karmada's ResourceSelector (policy/v1alpha1). A `name` wins over a `labelSelector`. Without both, it selects every object of the kind. */
export interface ResourceSelector {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly labelSelector?: JsonObject | null;
}

/** How specifically selectors select an object, from the least specific to the most. `MisMatch`: they do not select it. */
const implicitPriorities = ['MisMatch', 'MatchAll', 'MatchLabelSelector', 'MatchName'] as const;

export type ImplicitPriority = (typeof implicitPriorities)[number];

/** Compares by the position in `implicitPriorities`: the less specific one comes first. */
export function compareImplicitPriorities(a: ImplicitPriority, b: ImplicitPriority): number {
  return implicitPriorities.indexOf(a) - implicitPriorities.indexOf(b);
}

/** How strongly a policy selects a resource. This decides which of several policies applies. */
export interface PolicyClaim {
  readonly name: string;
  /** `priority` of the policy. */
  readonly explicit: number;
  readonly implicit: ImplicitPriority;
}

/** Compares how strongly policies of one kind select one resource. The policy that applies comes first. */
export function compareClaims(a: PolicyClaim, b: PolicyClaim): number {
  return b.explicit - a.explicit || compareImplicitPriorities(b.implicit, a.implicit) || compareText(a.name, b.name);
}

/**
 * Returns a function that returns how specifically the selectors select a resource: the highest priority of them, `MisMatch` without
 * selectors. An invalid label selector selects nothing, without an error. The selectors are read once, for many resources.
 */
export function preparedSelectors(selectors: readonly ResourceSelector[] | null | undefined): (resource: Manifest) => ImplicitPriority {
  const prepared = (selectors ?? []).map(preparedSelector);
  return (resource) => {
    let highest: ImplicitPriority = 'MisMatch';
    for (const priorityOf of prepared) {
      const priority = priorityOf(resource);
      if (compareImplicitPriorities(priority, highest) > 0) highest = priority;
    }
    return highest;
  };
}

function preparedSelector({ apiVersion, kind, namespace = '', name = '', labelSelector: labels }: ResourceSelector) {
  const named = name === '' ? labelPriority(labels) : (resource: Manifest) => (resource.metadata.name === name ? 'MatchName' : 'MisMatch');
  return (resource: Manifest): ImplicitPriority => {
    if (resource.apiVersion !== apiVersion || resource.kind !== kind) return 'MisMatch';
    return namespace !== '' && namespace !== resource.metadata.namespace ? 'MisMatch' : named(resource);
  };
}

function labelPriority(labels: JsonObject | null | undefined): (resource: Manifest) => ImplicitPriority {
  if (labels === undefined || labels === null) return () => 'MatchAll';
  const read = readDocument(labelSelector, labels);
  if ('problems' in read) return () => 'MisMatch';
  const selector: LabelSelector = read.value;
  return ({ metadata }) => {
    // Labels are not copied here, because an import compares every resource with every selector.
    const given = isJsonObject(metadata.labels) ? (metadata.labels as Readonly<Record<string, string>>) : undefined;
    return matchesLabelSelector(selector, given) ? 'MatchLabelSelector' : 'MisMatch';
  };
}
