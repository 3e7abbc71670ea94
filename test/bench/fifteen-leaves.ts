/** What the benches select of a pod: 15 fields at the leaves, as a dashboard's table has them. */
export const fifteenLeaves = `
  id kind cluster { name }
  metadata { name namespace uid creationTimestamp resourceVersion labels }
  spec { nodeName serviceAccountName restartPolicy }
  status { phase podIP startTime }
`;
