import { type GroupKind, keyOfKind } from '../core/kinds.ts';
import type { Row } from '../load/reads.ts';
import type { ManifestInput, TargetInput, WriteOutcome, WriteResult } from '../propagate/object-writes.ts';
import type { ObjectKey } from '../propagate/spec.ts';
import { chargedList } from './budget.ts';
import type { GraphBuilder, ObjectRefOf, Pothos } from './builder.ts';
import type { GraphContext } from './context.ts';
import { clusterNamed, enumsOf, faultIn, namedCluster } from './faults.ts';

/** The types that changing single objects and propagating have in common. */
export type Changing = ReturnType<typeof addChanging>;

/** Adds `Mutation`, with the fields that change single objects, and what is common to all writing. */
export function addChanging(builder: GraphBuilder) {
  const { pothos } = builder;
  pothos.mutationType({
    description:
      'Changes objects in many clusters, each with an outcome of its own: one that fails stops no other. What cannot be served at all is refused ' +
      'before any cluster is touched.',
  });
  const cascade = enumsOf(pothos)('Cascade', 'What becomes of the objects that a deleted object owns, as kubectl `--cascade` has it.', {
    BACKGROUND: 'They are deleted afterwards.',
    FOREGROUND: 'They are deleted first.',
    ORPHAN: 'They stay.',
  });
  const resourceRef = pothos.inputType('ResourceRef', {
    description: 'An object of a cluster.',
    fields: (t) => ({
      cluster: t.string({ required: true, description: 'Where it is.' }),
      apiVersion: t.string({ required: true, description: 'Such as `apps/v1`.' }),
      kind: t.string({ required: true, description: 'Such as `Deployment`.' }),
      namespace: t.string({ description: 'Its namespace. Absent for cluster-scoped kinds.' }),
      name: t.string({ required: true, description: 'Its name.' }),
      uid: t.string({ description: 'A precondition: only an object with this uid is meant.' }),
      resourceVersion: t.string({ description: 'A precondition: only in this version.' }),
    }),
  });
  const action = enumsOf(pothos)('Action', 'What a write did.', actionMeanings);
  const objectKey = addObjectKey(builder);
  addWrites(builder, { outcome: addOutcome(builder, { action, objectKey }), cascade, resourceRef });
  return { cascade, resourceRef, action, objectKey };
}

function addObjectKey({ pothos }: GraphBuilder) {
  return pothos.objectRef<ObjectKey>('ObjectKey').implement({
    description: 'Which object, in whatever cluster.',
    fields: (t) => ({
      apiVersion: t.exposeString('apiVersion', { nullable: false, description: 'Such as `apps/v1`.' }),
      kind: t.exposeString('kind', { nullable: false, description: 'Such as `Deployment`.' }),
      namespace: t.exposeString('namespace', { description: 'Its namespace. Null for cluster-scoped kinds.' }),
      name: t.exposeString('name', { nullable: false, description: 'Its name.' }),
    }),
  });
}

type ActionRef = PothosSchemaTypes.EnumRef<never, keyof typeof actionMeanings>;

interface OutcomeTypes {
  readonly action: ActionRef;
  readonly objectKey: ObjectRefOf<ObjectKey>;
}

function addOutcome({ pothos, types, model }: GraphBuilder, { action, objectKey }: OutcomeTypes): ObjectRefOf<WriteOutcome> {
  const result = pothos.objectRef<WriteResult>('Result').implement({
    description: 'What came of one write: one object in one cluster.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'Where.', resolve: namedCluster }),
      key: t.field({ type: objectKey, nullable: false, description: 'Which object.', resolve: ({ key }) => key }),
      action: t.field({
        type: action,
        nullable: false,
        description: 'What the write did; with a dry run, what it would do.',
        resolve: (r) => r.action,
      }),
      resource: t.field({
        type: types.resource,
        description: 'The object as it was written, so that clients hold it at once. Null if it is gone, or if the write failed.',
        resolve: (written, _args, context) => rowOf(written, { context, kinds: model.kinds }),
      }),
      diff: t.exposeString('diff', {
        description: 'With a dry run: what would change, as a unified diff of YAML. Never values of Secrets.',
      }),
      warnings: t.exposeStringList('warnings', { nullable: false, description: 'What the API server warned of.' }),
      fault: t.field({
        type: types.fault,
        description: 'Why it failed; `status` is what the API server itself said.',
        resolve: ({ cluster, fault }, _args, context) => (fault === undefined ? undefined : faultIn(clusterNamed(cluster, context), fault)),
      }),
    }),
  });
  return pothos.objectRef<WriteOutcome>('Outcome').implement({
    description: 'What came of a mutation.',
    fields: (t) => ({
      ok: t.exposeBoolean('ok', { nullable: false, description: 'None failed.' }),
      results: t.field({
        type: [result],
        nullable: false,
        description: 'One for each object and cluster, in the order asked for.',
        resolve: chargedList('results'),
      }),
    }),
  });
}

interface RowSurroundings {
  readonly context: GraphContext;
  readonly kinds: ReadonlyMap<string, Row['kind']>;
}

/** The object as the answer to its write had it: true as of now. */
function rowOf({ cluster, written }: WriteResult, { context, kinds }: RowSurroundings): Row | undefined {
  const kind = written === undefined ? undefined : kinds.get(keyOfKind(written.resource satisfies GroupKind));
  if (written === undefined || kind === undefined) return undefined;
  const view = clusterNamed(cluster, context);
  const sync = { phase: 'SYNCED', asOfMs: context.clock.now(), cluster: view, kind } as const;
  return { cluster: view, kind, ...written, sync };
}

interface WriteTypes {
  readonly outcome: ObjectRefOf<WriteOutcome>;
  readonly cascade: PothosSchemaTypes.EnumRef<never, 'BACKGROUND' | 'FOREGROUND' | 'ORPHAN'>;
  readonly resourceRef: ReturnType<typeof addChanging>['resourceRef'];
}

/** Exactly one member of an input with `@oneOf` is there: graphql-js has seen to it. */
type OneOf<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

function addWrites({ pothos }: GraphBuilder, { outcome, cascade, resourceRef }: WriteTypes): void {
  const { manifest, target, patchType } = addWriteInputs(pothos, resourceRef);
  const dryRunText = 'True: all is checked by the API servers, nothing is written, and each result has its diff.';
  pothos.mutationFields((t) => {
    const targets = t.arg({ type: [target], required: true, description: 'The objects. One result for each.' });
    const dryRun = t.arg.boolean({ defaultValue: false, description: dryRunText });
    return {
      apply: t.field({
        type: outcome,
        nullable: false,
        description:
          'Applies manifests in clusters, server-side: only the fields that they set are changed. As `kubectl apply --server-side`.',
        args: {
          manifests: t.arg({ type: [manifest], required: true, description: 'What is to be there.' }),
          clusters: t.arg.stringList({ required: true, description: 'Where: each manifest in each of them.' }),
          force: t.arg.boolean({ defaultValue: false, description: 'True: takes fields from other managers.' }),
          dryRun,
        },
        resolve: (_root, { manifests, clusters, force, dryRun: isDry }, { writes, read }) =>
          writes.apply(read, { manifests: manifests.map(manifestOf), clusters, force: force === true, dryRun: isDry === true }),
      }),
      patch: t.field({
        type: outcome,
        nullable: false,
        description: 'Patches objects. As `kubectl patch`.',
        args: {
          targets,
          type: t.arg({ type: patchType, required: true, description: 'How the patch is written.' }),
          patch: t.arg({ type: 'JSON', required: true, description: 'The patch.' }),
          subresource: t.arg.string({ description: 'Such as `status` or `scale`.' }),
          dryRun,
        },
        resolve: (_root, { targets: asked, dryRun: isDry, ...rest }, { writes, read }) =>
          writes.patch(read, { ...rest, targets: asked.map(targetOf), dryRun: isDry === true }),
      }),
      delete: t.field({
        type: outcome,
        nullable: false,
        description: 'Deletes objects. As `kubectl delete --wait=false`.',
        args: {
          targets,
          cascade: t.arg({ type: cascade, defaultValue: 'BACKGROUND', description: 'What becomes of what they own.' }),
          dryRun,
        },
        resolve: (_root, { targets: asked, cascade: how, dryRun: isDry }, { writes, read }) =>
          writes.delete(read, { targets: asked.map(targetOf), cascade: how ?? 'BACKGROUND', dryRun: isDry === true }),
      }),
      scale: t.field({
        type: outcome,
        nullable: false,
        description: 'Sets the count of replicas. As `kubectl scale`.',
        args: { targets, replicas: t.arg.int({ required: true, description: 'How many, 0 or more.' }), dryRun },
        resolve: (_root, { targets: asked, replicas, dryRun: isDry }, { writes, read }) =>
          writes.scale(read, { targets: asked.map(targetOf), replicas, dryRun: isDry === true }),
      }),
      restart: t.field({
        type: outcome,
        nullable: false,
        description: 'Replaces the Pods of workloads one after the other. As `kubectl rollout restart`.',
        args: { targets, dryRun },
        resolve: (_root, { targets: asked, dryRun: isDry }, { writes, read }) =>
          writes.restart(read, { targets: asked.map(targetOf), dryRun: isDry === true }),
      }),
    };
  });
}

function addWriteInputs(pothos: Pothos, resourceRef: WriteTypes['resourceRef']) {
  const manifest = pothos.inputType('Manifest', {
    description: 'An object as it is to be. Of YAML: one or several documents, read as kubectl reads them.',
    isOneOf: true,
    fields: (t) => ({
      yaml: t.string({ description: 'As YAML.' }),
      json: t.field({ type: 'JSON', description: 'As JSON, never JSON in a text.' }),
    }),
  });
  const target = pothos.inputType('Target', {
    description: 'An object to change.',
    isOneOf: true,
    fields: (t) => ({
      id: t.id({ description: 'The id of a `Resource`.' }),
      ref: t.field({ type: resourceRef, description: 'The object by its names.' }),
    }),
  });
  const patchType = enumsOf(pothos)('PatchType', 'How a patch is written.', {
    JSON: 'RFC 6902: a list of operations.',
    MERGE: 'RFC 7396.',
    STRATEGIC: 'The merge of Kubernetes that knows the keys of lists; built-in kinds only.',
    APPLY: 'Server-side apply, as the field manager `muster`.',
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
  CREATED: 'It was made.',
  CONFIGURED: 'It was changed.',
  UNCHANGED: 'It was so already.',
  DELETED: 'It is gone, or goes.',
  ORPHANED: 'It stays, and is nobody of ours any more.',
  RESTORED: 'It is as it was before.',
  SKIPPED: 'It was left alone.',
  FAILED: 'See `fault`.',
};
