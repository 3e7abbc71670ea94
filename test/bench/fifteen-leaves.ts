/** The selection of a pod in the benches: 15 leaf fields, as in the table of a dashboard. */
export const fifteenLeaves = `
  id kind cluster { name }
  metadata { name namespace uid creationTimestamp resourceVersion labels }
  spec { nodeName serviceAccountName restartPolicy }
  status { phase podIP startTime }
`;
