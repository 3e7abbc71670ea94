import type { ManifestInput, ObjectChangeResult, ObjectChangesOutcome, TargetInput } from '../../changes/object-changes.ts';
import { type GroupKind, keyOfKind } from '../../core/kinds.ts';
import type { Row } from '../../load/reads/reads.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf, type ObjectRefOf, type Pothos } from '../builder/pothos.ts';
import { resolveChargedList } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';
import { clusterNamed, faultWithCluster, namedCluster } from '../fleet/faults.ts';

/** The types that mutations of objects and of Propagations share. */
export type MutationTypes = ReturnType<typeof addObjectMutations>;

/** Adds `Mutation` with the fields that change single objects, and the types that all mutations share. */
export function addObjectMutations(builder: GraphBuilder) {
  const { pothos } = builder;
  pothos.mutationType({
    description:
      'Changes objects in many clusters. Each object and cluster has its own result, and a failure stops no other change. A request that is wrong ' +
      'as a whole is refused before any cluster is changed.',
  });
  const cascade = enumsOf(pothos)('Cascade', 'How to treat the objects that a deleted object owns, as with `kubectl delete --cascade`.', {
    BACKGROUND: 'Owned objects are deleted afterwards.',
    FOREGROUND: 'Owned objects are deleted first.',
    ORPHAN: 'Owned objects stay.',
  });
  const resourceRef = addResourceRef(pothos);
  const action = enumsOf(pothos)('Action', 'The result of a write.', actionMeanings);
  const objectKey = addObjectKey(builder);
  const target = addWrites(builder, { outcome: addOutcome(builder, { action, objectKey }), cascade, resourceRef });
  return { cascade, resourceRef, action, objectKey, target };
}

function addResourceRef(pothos: Pothos) {
  return pothos.inputType('ResourceRef', {
    description: 'A reference to an object in one cluster.',
    fields: (t) => ({
      cluster: t.string({ required: true, description: 'The name of the cluster.' }),
      apiVersion: t.string({ required: true, description: 'The API version of the object, such as `apps/v1`.' }),
      kind: t.string({ required: true, description: 'The kind of the object, such as `Deployment`.' }),
      namespace: t.string({ description: 'The namespace of the object. Leave it out for cluster-scoped kinds.' }),
      name: t.string({ required: true, description: 'The name of the object.' }),
      uid: t.string({ description: 'A precondition: the object must have this uid. Default: any uid.' }),
      resourceVersion: t.string({ description: 'A precondition: the object must have this resourceVersion. Default: any version.' }),
    }),
  });
}

function addObjectKey({ pothos }: GraphBuilder) {
  return pothos.objectRef<ObjectKey>('ObjectKey').implement({
    description: 'The identity of an object within its cluster.',
    fields: (t) => ({
      apiVersion: t.exposeString('apiVersion', { nullable: false, description: 'The API version of the object, such as `apps/v1`.' }),
      kind: t.exposeString('kind', { nullable: false, description: 'The kind of the object, such as `Deployment`.' }),
      namespace: t.exposeString('namespace', { description: 'The namespace of the object. Null for cluster-scoped kinds.' }),
      name: t.exposeString('name', { nullable: false, description: 'The name of the object.' }),
    }),
  });
}

type ActionRef = PothosSchemaTypes.EnumRef<never, keyof typeof actionMeanings>;

interface OutcomeTypes {
  readonly action: ActionRef;
  readonly objectKey: ObjectRefOf<ObjectKey>;
}

function addOutcome({ pothos, types, model }: GraphBuilder, { action, objectKey }: OutcomeTypes): ObjectRefOf<ObjectChangesOutcome> {
  const result = pothos.objectRef<ObjectChangeResult>('Result').implement({
    description: 'The result of one write: one object in one cluster.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'The cluster of the object.', resolve: namedCluster }),
      key: t.field({ type: objectKey, nullable: false, description: 'The identity of the object.', resolve: ({ key }) => key }),
      action: t.field({
        type: action,
        nullable: false,
        description: 'The result of the write. With a dry run: the result that the write would have.',
        resolve: (r) => r.action,
      }),
      resource: t.field({
        type: types.resource,
        description: 'The object after the write, so that clients can store it at once. Null if it was deleted or if the write failed.',
        resolve: (written, _args, context) => rowOf(written, { context, kinds: model.kinds }),
      }),
      diff: t.exposeString('diff', {
        description: 'With a dry run: the changes as a unified diff of YAML, without values of Secrets. Null without a dry run.',
      }),
      warnings: t.exposeStringList('warnings', { nullable: false, description: 'The warnings of the API server.' }),
      fault: t.field({
        type: types.fault,
        description: 'The reason why the write failed. Its `status` is the error of the API server. Null if the write succeeded.',
        resolve: ({ cluster, fault }, _args, context) =>
          fault === undefined ? undefined : faultWithCluster(clusterNamed(cluster, context), fault),
      }),
    }),
  });
  return pothos.objectRef<ObjectChangesOutcome>('Outcome').implement({
    description: 'The result of a mutation.',
    fields: (t) => ({
      ok: t.exposeBoolean('ok', { nullable: false, description: 'True if no write failed.' }),
      results: t.field({
        type: [result],
        nullable: false,
        description: 'One result for each object and cluster, in the order of the request.',
        resolve: resolveChargedList('results'),
      }),
    }),
  });
}

interface RowSurroundings {
  readonly context: GraphContext;
  readonly kinds: ReadonlyMap<string, Row['kind']>;
}

/**
 * Returns the written object as a row. Its sync is `SYNCED` at this moment. Undefined if no object was written, or if the schema does not
 * have its kind.
 */
function rowOf({ cluster, written }: ObjectChangeResult, { context, kinds }: RowSurroundings): Row | undefined {
  const kind = written === undefined ? undefined : kinds.get(keyOfKind(written.resource satisfies GroupKind));
  if (written === undefined || kind === undefined) return undefined;
  const view = clusterNamed(cluster, context);
  const sync = { phase: 'SYNCED', asOfMs: context.clock.now(), cluster: view, kind } as const;
  return { cluster: view, kind, ...written, sync };
}

type ResourceRefInput = ReturnType<typeof addResourceRef>;

interface WriteTypes {
  readonly outcome: ObjectRefOf<ObjectChangesOutcome>;
  readonly cascade: PothosSchemaTypes.EnumRef<never, 'BACKGROUND' | 'FOREGROUND' | 'ORPHAN'>;
  readonly resourceRef: ResourceRefInput;
}

/** The value of an input with `@oneOf`. Exactly one member is set, which graphql-js has checked. */
type OneOf<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** Adds the mutations, and returns the input that names an object. */
function addWrites({ pothos }: GraphBuilder, { outcome, cascade, resourceRef }: WriteTypes): WriteInputs['target'] {
  const inputs = addWriteInputs(pothos, resourceRef);
  addManifestWrites(pothos, outcome, inputs);
  addTargetWrites(pothos, { outcome, cascade }, inputs);
  return inputs.target;
}

type WriteInputs = ReturnType<typeof addWriteInputs>;

const targetsText = 'The objects to change. Each object has one result.';
const dryRunText = 'True: the API servers check the request, and nothing is written. Each result has its diff.';

function addManifestWrites(pothos: Pothos, outcome: WriteTypes['outcome'], { manifest, target, patchType }: WriteInputs): void {
  pothos.mutationFields((t) => {
    const dryRun = t.arg.boolean({ defaultValue: false, description: dryRunText });
    return {
      apply: t.field({
        type: outcome,
        nullable: false,
        description:
          'Applies manifests in clusters with server-side apply: only the fields of the manifests are changed. As `kubectl apply --server-side`.',
        args: {
          manifests: t.arg({ type: [manifest], required: true, description: 'The objects to create or change.' }),
          clusters: t.arg.stringList({
            required: true,
            description: 'The names of the clusters. Each manifest is applied in each of these clusters.',
          }),
          force: t.arg.boolean({
            defaultValue: false,
            description: 'True: take over fields that other managers own. False: refuse the write if it would change such fields.',
          }),
          dryRun,
        },
        resolve: (_root, { manifests, clusters, force, dryRun: isDry }, { writes, read }) =>
          writes.apply(read, { manifests: manifests.map(manifestOf), clusters, force: force === true, dryRun: isDry === true }),
      }),
      patch: t.field({
        type: outcome,
        nullable: false,
        description: 'Patches objects, as `kubectl patch`.',
        args: {
          targets: t.arg({ type: [target], required: true, description: targetsText }),
          type: t.arg({ type: patchType, required: true, description: 'The format of the patch.' }),
          patch: t.arg({ type: 'JSON', required: true, description: 'The patch, in the format that `type` says.' }),
          subresource: t.arg.string({ description: 'The subresource to patch, such as `status` or `scale`. Default: the object itself.' }),
          dryRun,
        },
        resolve: (_root, { targets: inputs, dryRun: isDry, ...rest }, { writes, read }) =>
          writes.patch(read, { ...rest, targets: inputs.map(targetOf), dryRun: isDry === true }),
      }),
    };
  });
}

function addTargetWrites(pothos: Pothos, { outcome, cascade }: Omit<WriteTypes, 'resourceRef'>, { target }: WriteInputs): void {
  pothos.mutationFields((t) => {
    const targets = t.arg({ type: [target], required: true, description: targetsText });
    const dryRun = t.arg.boolean({ defaultValue: false, description: dryRunText });
    return {
      delete: t.field({
        type: outcome,
        nullable: false,
        description: 'Deletes objects, as `kubectl delete --wait=false`.',
        args: {
          targets,
          cascade: t.arg({
            type: cascade,
            defaultValue: 'BACKGROUND',
            description: 'How to treat the objects that the deleted objects own.',
          }),
          dryRun,
        },
        resolve: (_root, { targets: inputs, cascade: mode, dryRun: isDry }, { writes, read }) =>
          writes.delete(read, { targets: inputs.map(targetOf), cascade: mode ?? 'BACKGROUND', dryRun: isDry === true }),
      }),
      scale: t.field({
        type: outcome,
        nullable: false,
        description: 'Sets the number of replicas, as `kubectl scale`.',
        args: { targets, replicas: t.arg.int({ required: true, description: 'The number of replicas: 0 or more.' }), dryRun },
        resolve: (_root, { targets: inputs, replicas, dryRun: isDry }, { writes, read }) =>
          writes.scale(read, { targets: inputs.map(targetOf), replicas, dryRun: isDry === true }),
      }),
      restart: t.field({
        type: outcome,
        nullable: false,
        description: 'Replaces the Pods of workloads one after the other, as `kubectl rollout restart`.',
        args: { targets, dryRun },
        resolve: (_root, { targets: inputs, dryRun: isDry }, { writes, read }) =>
          writes.restart(read, { targets: inputs.map(targetOf), dryRun: isDry === true }),
      }),
    };
  });
}

function addWriteInputs(pothos: Pothos, resourceRef: ResourceRefInput) {
  const manifest = pothos.inputType('Manifest', {
    description: 'A manifest, as YAML or as JSON.',
    isOneOf: true,
    fields: (t) => ({
      yaml: t.string({ description: 'One or several manifests as YAML text, read as kubectl reads it.' }),
      json: t.field({ type: 'JSON', description: 'One manifest as a JSON value, not as text.' }),
    }),
  });
  const target = pothos.inputType('Target', {
    description: 'An object to change, by its id or by a reference.',
    isOneOf: true,
    fields: (t) => ({
      id: t.id({ description: 'The value of the field `id` of the object.' }),
      ref: t.field({ type: resourceRef, description: 'A reference to the object by cluster, kind, namespace and name.' }),
    }),
  });
  const patchType = enumsOf(pothos)('PatchType', 'The format of a patch.', {
    JSON: 'A JSON patch (RFC 6902): a list of operations.',
    MERGE: 'A JSON merge patch (RFC 7396).',
    STRATEGIC: 'A strategic merge patch of Kubernetes, which merges lists by keys. For built-in kinds only.',
    APPLY: 'A manifest for server-side apply, with the field manager `muster`.',
  });
  return { manifest, target, patchType };
}

function manifestOf({ yaml, json }: OneOf<{ readonly yaml: string; readonly json: unknown }>): ManifestInput {
  return yaml === undefined || yaml === null ? { json: json as never } : { yaml };
}

function targetOf({ id, ref }: OneOf<{ readonly id: string | number; readonly ref: object }>): TargetInput {
  return id === undefined || id === null ? { ref: ref as Extract<TargetInput, { readonly ref: unknown }>['ref'] } : { id: String(id) };
}

const actionMeanings = {
  CREATED: 'The object was created.',
  CONFIGURED: 'The object was changed.',
  UNCHANGED: 'The object already had the requested state.',
  DELETED: 'The object was deleted, or its deletion has begun.',
  ORPHANED: 'The object stays in the cluster, but is no longer a copy of a Propagation.',
  RESTORED: 'The object got its previous state back.',
  SKIPPED: 'The object was not changed.',
  FAILED: 'The write failed: see `fault`.',
};
