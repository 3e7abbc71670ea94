import { type AnsweredSelector, selectorText } from '../../core/columns/label-texts.ts';

/** The kinds whose `spec.selector` selects Pods. */
const kindsWithPods = new Set([
  'Deployment.apps',
  'ReplicaSet.apps',
  'StatefulSet.apps',
  'DaemonSet.apps',
  'Job.batch',
  'Service',
  'ReplicationController',
]);

/** True if an object of the kind has Pods, by `spec.selector`. */
export function hasPods(key: string): boolean {
  return kindsWithPods.has(key);
}

/** Returns the label selector of the Pods of an object, as `kubectl get -l` takes it. Undefined if it selects none. */
export function podSelectorOf(object: object): string | undefined {
  const { spec } = object as { readonly spec?: { readonly selector?: object | null } | null };
  const selector = spec?.selector;
  if (selector === undefined || selector === null) return undefined;
  const isLabelSelector = 'matchLabels' in selector || 'matchExpressions' in selector;
  const text = selectorText((isLabelSelector ? selector : { matchLabels: selector }) as AnsweredSelector);
  return text === '' ? undefined : text;
}
