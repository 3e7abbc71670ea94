/**
 * Type names that are written by hand in the schema, now or as designed: no generated type may be called so. What later issues bring stands
 * here from the start, so that its arrival renames nobody's types.
 */
export const reservedTypeNames: ReadonlySet<string> = new Set([
  ...words('Query Mutation Subscription String Boolean Int Float ID _Any _Entity _Service'),
  ...words('DateTime Int64 Quantity Bytes Duration IntOrString StringMap JSON ResourceList'),
  ...words('Resource ResourceConnection ResourceEdge ResourceRef ObjectMeta OwnerReference ObjectKey NamespacedName'),
  ...words('Cluster ClusterPhase ServedKind Kind KindSource Column Gateway Sync SyncPhase Fault FaultCode Retry ApiError ApiErrorCause'),
  ...words('Connection PageInfo Group GroupOrder Sum Direction OrderBy Where'),
  ...words('PodOwner Rollout JobPhase PodLog LogBatch LogBatchType LogLine'),
  ...words('Changes ChangeType PodChanges ResourceChanges JobStatusChanges JobSummary JobState JobClusterCount JobPhaseCount'),
  ...words('Action Cascade ConflictMode Manifest Outcome PatchType Result ReturnMode Target TemplateInput WriteMode'),
  ...words('AffinityGroupInput ClusterField ClusterFieldInput ClusterSetInput CommandOverrideInput CompletionInput CompletionMode'),
  ...words('ContainerScope DeletionInput DeletionPolicy EnvOverrideInput ExactInput FailoverInput FieldOverrideInput ImageComponent'),
  ...words('ImageOverrideInput JsonPatchInput JsonPatchOp MapOverrideInput MatchOperator MigrateInput MigrationSource MigrationStep'),
  ...words('ObjectMatchInput OnFailure OverflowInput OverrideInput OverrideOperator PlacementInput PreserveInput PurgeMode ReplicaMode'),
  ...words('ReplicaRuleInput ReplicaStrategy ReplicasInput RolloutInput RunAsInput SpreadBy SpreadInput SuspendInput TaintEffect'),
  ...words('TolerationInput TolerationOperator WaveInput'),
  ...words('PropagationPlan ClusterPlan ReplicaShare ObjectPlan FieldConflict PlanAction Note Severity PropagationOutcome'),
  ...words('PropagationResult Propagation PropagationPhase RolloutProgress PropagationCluster CopyPhase PropagatedObject InventoryState'),
  ...words('Health AggregatedStatus ClusterCondition Completion PropagationRevision PropagationConnection PropagationInput Migration'),
  ...words('MigratedApp ImportResult ImportedPropagation ImportedDocument DocumentFormat DocumentRole SourceSystem Workload'),
]);

/** Fields of `Query` and `Subscription` that are written by hand, now or as designed. A kind has the same list field in both. */
export const reservedRootFields: ReadonlySet<string> = new Set([
  ...words('clusters cluster gateway kinds resource resources podLogs jobStatus _service _entities'),
  ...words('planPropagation importManifests propagation propagations migration'),
]);

/** Fields of the interface `Resource`: a field of a kind that is called so gets a trailing `_`. */
export const resourceFieldNames: ReadonlySet<string> = new Set(
  words('id cluster apiVersion kind metadata sync object yaml owner owned events'),
);

/** What stands behind the name of a kind's type in the names of the types that come with it. */
export const companionSuffixes: readonly string[] = ['Connection', 'Edge', 'Changes'];

function words(text: string): readonly string[] {
  return text.split(' ');
}
