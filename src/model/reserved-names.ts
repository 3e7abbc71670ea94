/**
 * Type names that are written by hand in the schema, now or as designed. No generated type may have them. Names of later features are reserved
 * from the start, so that adding these features renames no type of a user.
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
  ...words('MigrationPlan MigrationConnection AppPlan Room BackupInput BackupUsed'),
  ...words('MigratedApp ImportResult ImportedPropagation ImportedDocument DocumentFormat DocumentRole SourceSystem Workload'),
  ...words('Caller AccessAnswer'),
]);

/**
 * Fields of `Query` or `Subscription` that are written by hand, now or in a planned version. No kind gets such a name: the list field of a
 * kind is a field of both types, so its name must be free in both.
 */
export const reservedRootFields: ReadonlySet<string> = new Set([
  ...words('clusters cluster gateway kinds resource resources podLogs jobStatus _service _entities'),
  ...words('planPropagation importManifests importFromCluster propagation propagations migration migrations planMigration'),
  ...words('whoami canI'),
]);

/** Fields of the interface `Resource`. A field of a kind with such a name gets a trailing `_`. */
export const resourceFieldNames: ReadonlySet<string> = new Set(
  words('id cluster apiVersion kind metadata sync object yaml owner owned events'),
);

/** The suffixes of the types that belong to the type of a kind, such as `PodConnection` to `Pod`. */
export const companionSuffixes: readonly string[] = ['Connection', 'Edge', 'Changes'];

function words(text: string): readonly string[] {
  return text.split(' ');
}
