/** The figures of a workload's status that are told for the fleet, by kind. */
export const workloadCounters: ReadonlyMap<string, readonly string[]> = new Map([
  ['Deployment.apps', ['replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas']],
  ['ReplicaSet.apps', ['replicas', 'readyReplicas', 'availableReplicas']],
  ['StatefulSet.apps', ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']],
  [
    'DaemonSet.apps',
    [
      'currentNumberScheduled',
      'desiredNumberScheduled',
      'numberAvailable',
      'numberMisscheduled',
      'numberReady',
      'updatedNumberScheduled',
      'numberUnavailable',
    ],
  ],
]);

/** The same of kinds that are no workloads, or run to an end. */
export const otherCounters: ReadonlyMap<string, readonly string[]> = new Map([
  ['Job.batch', ['active', 'succeeded', 'failed']],
  ['PodDisruptionBudget.policy', ['disruptionsAllowed', 'expectedPods', 'desiredHealthy', 'currentHealthy']],
  ['HorizontalPodAutoscaler.autoscaling', ['currentReplicas', 'desiredReplicas']],
]);
