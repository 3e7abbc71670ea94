import { MusterError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ListPage } from '../../load/reads/reads.ts';
import type { PropagationPlan } from '../../propagate/model/plan.ts';
import type { PropagationInput, PropagationName, PropagationOutcome, PropagationView } from '../../propagate/model/propagations.ts';
import { deletion as deletionDefinition, namespacedName, propagationInput } from '../../propagate/model/spec-definition.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf, type ObjectRefOf } from '../builder/pothos.ts';
import { resolveChargedList } from '../context/budget.ts';
import { SourceCarrier } from '../context/subscribe.ts';
import type { MutationTypes } from '../objects/object-mutations.ts';
import { createDefinedTypes, type DefinedTypes } from './defined-types.ts';
import { addHubPage, listArguments, listFilterOf, nameArguments } from './hub-resources.ts';
import { addImports } from './import-types.ts';
import { addNotes, addPlans, type NoteView } from './plan-types.ts';
import { propagationSource } from './propagation-source.ts';
import { addPropagationTypes, type PropagationTypes } from './propagation-types.ts';

interface RootTypes extends PropagationTypes {
  readonly defined: DefinedTypes;
  readonly plan: ObjectRefOf<PropagationPlan>;
  readonly note: ObjectRefOf<NoteView>;
}

/** The types of Propagations that other parts of the schema use. */
export type AddedPropagation = ReturnType<typeof addPropagation>;

/**
 * Adds the queries, mutations and the subscription of Propagations.
 *
 * @returns The types that the stream of Jobs and migrations need.
 */
export function addPropagation(builder: GraphBuilder, changing: MutationTypes, jobs: ObjectRefOf<ListPage> | undefined) {
  const defined = createDefinedTypes(builder, {
    ResourceRef: changing.resourceRef,
    Cascade: changing.cascade,
    Action: changing.action,
    Target: changing.target,
  });
  const note = addNotes(builder);
  const { plan, object: objectPlan } = addPlans(builder, { changing, defined, note });
  const made = addPropagationTypes(builder, { changing, defined, note, jobs });
  const types = { ...made, defined, plan, note };
  addQueries(builder, types);
  addImports(builder, { objectKey: changing.objectKey, defined, note });
  const outcome = addOutcome(builder, types);
  addMutations(builder, types, outcome);
  addUndoMutations(builder, types, outcome);
  builder.pothos.subscriptionField('propagation', (t) =>
    t.field({
      type: types.propagation,
      nullable: false,
      description:
        'The whole state of one Propagation: once at the start, then after each change of a selected field. Ends with `GONE` when the ' +
        'Propagation is deleted.',
      args: nameArguments(t.arg, 'Propagation'),
      subscribe: (_root, name, { propagations, read }): AsyncIterable<PropagationView> =>
        new SourceCarrier(propagationSource(propagations, read, name)),
      resolve: (view) => view,
    }),
  );
  return { ...made, changing, defined, note, objectPlan, namespacedName: defined.input<PropagationName>(namespacedName) };
}

function addQueries(builder: GraphBuilder, { propagation, defined, plan }: RootTypes): void {
  const input = defined.input<PropagationInput>(propagationInput);
  const connection = addHubPage(builder, 'Propagation', propagation);
  builder.pothos.queryFields((t) => ({
    planPropagation: t.field({
      type: plan,
      nullable: false,
      description: 'The plan of an intent: its effect in each cluster, and the reasons why clusters are not chosen. Writes nothing.',
      args: { input: t.arg({ type: input, required: true, description: 'The intent.' }) },
      resolve: (_root, { input: intent }, { propagations, read }) => propagations.plan(read, intent),
    }),
    propagation: t.field({
      type: propagation,
      description: 'One Propagation. Null if it does not exist.',
      args: nameArguments(t.arg, 'Propagation'),
      resolve: (_root, name, { propagations, read }) => propagations.get(read, name),
    }),
    propagations: t.field({
      type: connection,
      nullable: false,
      description: 'The Propagations of the hub.',
      args: {
        ...listArguments(t.arg, 'Propagation', defined),
        labels: t.arg.string({
          description: 'Only Propagations that match this label selector, such as `app=web`, as `kubectl get -l` takes it.',
        }),
      },
      resolve: (_root, args, { propagations, read }) => propagations.list(read, listFilterOf(args)),
    }),
  }));
}

function addOutcome({ pothos, types }: GraphBuilder, { propagation, plan, note }: RootTypes): ObjectRefOf<PropagationOutcome> {
  const result = enumsOf(pothos)('PropagationResult', 'The result of a mutation of a Propagation.', {
    ACCEPTED: 'The change is recorded on the hub and will be carried out.',
    UNCHANGED: 'The Propagation already has the requested state. Nothing was written.',
    PLAN_STALE: 'The digest is not that of the current plan, which is in `plan`. Nothing was written.',
    REFUSED: 'The request was refused for the reasons in `notes`. Nothing was written.',
    NOT_FOUND: 'The Propagation does not exist.',
  });
  return pothos.objectRef<PropagationOutcome>('PropagationOutcome').implement({
    description: 'The result of a mutation of a Propagation, with the Propagation, its plan and notes.',
    fields: (t) => ({
      result: t.field({ type: result, nullable: false, description: 'The result of the mutation.', resolve: (outcome) => outcome.result }),
      propagation: t.field({
        type: propagation,
        description: 'The Propagation as it is recorded now. Null if it does not exist.',
        resolve: (outcome) => outcome.propagation,
      }),
      plan: t.field({
        type: plan,
        description: 'The current plan, with `PLAN_STALE`, and with `REFUSED` if a plan was made. Null otherwise.',
        resolve: (outcome) => outcome.plan,
      }),
      notes: t.field({ type: [note], nullable: false, description: 'The notes about the input.', resolve: resolveChargedList('notes') }),
      faults: t.field({
        type: [types.fault],
        nullable: false,
        description: 'The faults of the clusters.',
        resolve: resolveChargedList('faults'),
      }),
    }),
  });
}

/**
 * Returns the digest. Undefined if none is given.
 *
 * @throws {MusterError} `BAD_INPUT` for a text that cannot be the digest of a plan.
 */
export function checkedDigest(digest: string | null | undefined): string | undefined {
  if (digest === null || digest === undefined || /^[0-9a-f]{64}$/.test(digest)) return digest ?? undefined;
  throw new MusterError('BAD_INPUT', 'digest: expected the 64 hexadecimal digits of a plan');
}

function addMutations({ pothos }: GraphBuilder, { defined }: RootTypes, outcome: ObjectRefOf<PropagationOutcome>): void {
  pothos.mutationFields((t) => ({
    propagate: t.field({
      type: outcome,
      nullable: false,
      description:
        'Records an intent on the hub. The gateway then carries it out and keeps its copies in sync. With a digest: carries out exactly the plan ' +
        'with that digest, or nothing.',
      args: {
        input: t.arg({ type: defined.input<PropagationInput>(propagationInput), required: true, description: 'The intent.' }),
        digest: t.arg.string({
          description:
            'The digest of a plan of this intent. If the current plan has another digest, nothing is written. Default: no check.',
        }),
      },
      resolve: (_root, { input, digest }, { propagations, read }) => propagations.propagate(read, { input, digest: checkedDigest(digest) }),
    }),
    pausePropagation: t.field({
      type: outcome,
      nullable: false,
      description: 'Pauses a Propagation: no further work starts, and work that has started continues.',
      args: nameArguments(t.arg, 'Propagation'),
      resolve: (_root, name, { propagations, read }) => propagations.pause(read, name),
    }),
    resumePropagation: t.field({
      type: outcome,
      nullable: false,
      description: 'Resumes a Propagation after a pause or too many failures, and tries failed clusters again.',
      args: {
        ...nameArguments(t.arg, 'Propagation'),
        confirmPrune: t.arg.boolean({ defaultValue: false, description: 'True: confirm the deletions that are held now.' }),
        abandon: t.arg.stringList({
          description:
            'The names of clusters whose pending deletions are given up. Muster forgets the copies, which may stay there. Default: none.',
        }),
      },
      resolve: (_root, { confirmPrune, abandon, ...name }, { propagations, read }) =>
        propagations.resume(read, name, { confirmPrune: confirmPrune === true, abandon: abandon ?? [] }),
    }),
  }));
}

function addUndoMutations({ pothos }: GraphBuilder, { defined }: RootTypes, outcome: ObjectRefOf<PropagationOutcome>): void {
  pothos.mutationFields((t) => ({
    rollbackPropagation: t.field({
      type: outcome,
      nullable: false,
      description:
        'Rolls back a Propagation: records the spec of an earlier revision as a new generation, which is carried out like any other. Objects that ' +
        'Muster took over after that revision get their old values back, unless they have changed again. It is not a transaction: an object that ' +
        'cannot be written is reported, and stops no other.',
      args: {
        ...nameArguments(t.arg, 'Propagation'),
        revision: t.arg.int({
          description:
            'The number of the revision. Default: the last revision that differs from the current spec and was not rolled back itself.',
        }),
      },
      resolve: (_root, { revision, ...name }, { propagations, read }) => propagations.rollback(read, name, revision ?? undefined),
    }),
    deletePropagation: t.field({
      type: outcome,
      nullable: false,
      description: 'Deletes a Propagation. Its copies are removed first, as `deletion` says.',
      args: {
        ...nameArguments(t.arg, 'Propagation'),
        deletion: t.arg({
          type: defined.input<JsonObject>(deletionDefinition),
          description: 'How to remove the copies. Default: the `deletion` of the spec.',
        }),
      },
      resolve: (_root, { deletion, ...name }, { propagations, read }) => propagations.delete(read, name, deletion ?? undefined),
    }),
  }));
}
