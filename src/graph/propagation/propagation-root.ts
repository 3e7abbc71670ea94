import { MusterError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Listed } from '../../load/reads.ts';
import type { PropagationPlan } from '../../propagate/plan.ts';
import type { PropagationPhase } from '../../propagate/propagation.ts';
import type {
  PropagationInput,
  PropagationName,
  PropagationOutcome,
  PropagationPage,
  PropagationView,
} from '../../propagate/propagations.ts';
import { deletion as deletionDefinition, namespacedName, propagationInput } from '../../propagate/spec/definition.ts';
import { propagationPhase } from '../../propagate/spec/status.ts';
import { resourceSpelling } from '../../propagate/spelling.ts';
import { chargedList } from '../budget.ts';
import type { GraphBuilder, ObjectRefOf } from '../builder.ts';
import type { Changing } from '../changing.ts';
import { enumsOf } from '../faults.ts';
import { SourceCarrier } from '../subscribing.ts';
import { createDefinedTypes, type DefinedTypes } from './defined-types.ts';
import { addNotes, addPlans, type NoteView } from './plan-types.ts';
import { propagationSource } from './propagation-source.ts';
import { addPropagationTypes, type PropagationTypes } from './propagation-types.ts';

interface RootTypes extends PropagationTypes {
  readonly defined: DefinedTypes;
  readonly plan: ObjectRefOf<PropagationPlan>;
  readonly note: ObjectRefOf<NoteView>;
}

/** Adds everything of propagation: `planPropagation`, `propagate` and their kin. @returns what streams of Jobs refer to. */
export function addPropagation(builder: GraphBuilder, changing: Changing, jobs: ObjectRefOf<Listed> | undefined) {
  const defined = createDefinedTypes(builder, { ResourceRef: changing.resourceRef, Cascade: changing.cascade, Action: changing.action });
  const note = addNotes(builder);
  const plan = addPlans(builder, { changing, defined, note });
  const made = addPropagationTypes(builder, { changing, defined, note, jobs });
  const types = { ...made, defined, plan, note };
  addQueries(builder, types);
  addMutations(builder, types, addOutcome(builder, types));
  builder.pothos.subscriptionField('propagation', (t) =>
    t.field({
      type: types.propagation,
      nullable: false,
      description:
        'One propagation: its whole state at once, then after each change of what is selected. Ends with `GONE` once it is deleted.',
      args: nameArguments(t.arg),
      subscribe: (_root, name, { propagations, read }): AsyncIterable<PropagationView> =>
        new SourceCarrier(propagationSource(propagations, read, name)),
      resolve: (view) => view,
    }),
  );
  return { namespacedName: defined.input<PropagationName>(namespacedName), completion: made.completion };
}

type Arguments = Parameters<Parameters<GraphBuilder['pothos']['queryField']>[1]>[0]['arg'];

function nameArguments(arg: Arguments) {
  return {
    namespace: arg.string({ required: true, description: 'Its namespace on the hub.' }),
    name: arg.string({ required: true, description: 'Its name.' }),
  };
}

function addQueries({ pothos, types: { pageInfo } }: GraphBuilder, { propagation, defined, plan }: RootTypes): void {
  const input = defined.input<PropagationInput>(propagationInput);
  const connection = pothos.objectRef<PropagationPage>('PropagationConnection').implement({
    description: 'One page of propagations.',
    fields: (t) => ({
      items: t.field({ type: [propagation], nullable: false, description: 'By namespace and name.', resolve: chargedList('items') }),
      pageInfo: t.field({ type: pageInfo, nullable: false, description: 'How to go on.', resolve: (page) => page }),
      totalCount: t.exposeInt('totalCount', { nullable: false, description: 'How many there are, on all pages.' }),
    }),
  });
  pothos.queryFields((t) => ({
    planPropagation: t.field({
      type: plan,
      nullable: false,
      description: 'What an intent would do, cluster by cluster, and why not there. Writes nothing.',
      args: { input: t.arg({ type: input, required: true, description: 'The intent.' }) },
      resolve: (_root, { input: asked }, { propagations, read }) => propagations.plan(read, asked),
    }),
    propagation: t.field({
      type: propagation,
      description: 'One propagation, or null if there is none of that name.',
      args: nameArguments(t.arg),
      resolve: (_root, name, { propagations, read }) => propagations.get(read, name),
    }),
    propagations: t.field({
      type: connection,
      nullable: false,
      description: 'Propagations of the hub.',
      args: {
        namespaces: t.arg.stringList({ description: 'Only in these namespaces of the hub.' }),
        labels: t.arg.string({ description: 'Only those with such labels: what kubectl takes after `-l`.' }),
        phases: t.arg({ type: [defined.enum(propagationPhase)], description: 'Only those in such a phase.' }),
        first: t.arg.int({ defaultValue: 100, description: 'Most propagations on the page: 1 to 500.' }),
        after: t.arg.string({ description: 'The cursor of the last one before the page.' }),
      },
      resolve: (_root, { phases, ...filter }, { propagations, read }) =>
        propagations.list(read, { ...filter, phases: phases?.map((phase) => resourceSpelling(phase) as PropagationPhase) }),
    }),
  }));
}

function addOutcome({ pothos, types }: GraphBuilder, { propagation, plan, note }: RootTypes): ObjectRefOf<PropagationOutcome> {
  const result = enumsOf(pothos)('PropagationResult', 'What became of a mutation.', {
    ACCEPTED: 'It is recorded, and will be done.',
    UNCHANGED: 'It is so already.',
    PLAN_STALE: 'The digest is of another plan: see `plan`. Nothing was written.',
    REFUSED: 'See `notes`. Nothing was written.',
    NOT_FOUND: 'There is no such propagation.',
  });
  return pothos.objectRef<PropagationOutcome>('PropagationOutcome').implement({
    description: 'What became of a mutation of a propagation.',
    fields: (t) => ({
      result: t.field({ type: result, nullable: false, description: 'What became of it.', resolve: (outcome) => outcome.result }),
      propagation: t.field({ type: propagation, description: 'As it is recorded now.', resolve: (outcome) => outcome.propagation }),
      plan: t.field({
        type: plan,
        description: 'With `PLAN_STALE`, and with `REFUSED` if it came so far.',
        resolve: (outcome) => outcome.plan,
      }),
      notes: t.field({ type: [note], nullable: false, description: 'About the input.', resolve: chargedList('notes') }),
      faults: t.field({ type: [types.fault], nullable: false, description: 'What clusters could not do.', resolve: chargedList('faults') }),
    }),
  });
}

/** @throws {MusterError} `BAD_INPUT` for a text that no plan has as its digest. */
function checkedDigest(digest: string | null | undefined): string | undefined {
  if (digest === null || digest === undefined || /^[0-9a-f]{64}$/.test(digest)) return digest ?? undefined;
  throw new MusterError('BAD_INPUT', 'digest: expected the 64 hexadecimal digits of a plan');
}

function addMutations({ pothos }: GraphBuilder, { defined }: RootTypes, outcome: ObjectRefOf<PropagationOutcome>): void {
  pothos.mutationFields((t) => ({
    propagate: t.field({
      type: outcome,
      nullable: false,
      description: 'Records an intent on the hub, which is then done and kept true. With a digest: exactly that plan, or nothing.',
      args: {
        input: t.arg({ type: defined.input<PropagationInput>(propagationInput), required: true, description: 'The intent.' }),
        digest: t.arg.string({ description: 'Of the plan that was seen.' }),
      },
      resolve: (_root, { input, digest }, { propagations, read }) => propagations.propagate(read, { input, digest: checkedDigest(digest) }),
    }),
    pausePropagation: t.field({
      type: outcome,
      nullable: false,
      description: 'Nothing new begins; what runs goes on.',
      args: nameArguments(t.arg),
      resolve: (_root, name, { propagations, read }) => propagations.pause(read, name),
    }),
    resumePropagation: t.field({
      type: outcome,
      nullable: false,
      description: 'Goes on after a pause or too many failures; tries again what failed.',
      args: {
        ...nameArguments(t.arg),
        confirmPrune: t.arg.boolean({ defaultValue: false, description: 'True: the deletions that are held now may be done.' }),
        abandon: t.arg.stringList({ description: 'Clusters whose pending deletions are given up: their copies stay for ever.' }),
      },
      resolve: (_root, { confirmPrune, abandon, ...name }, { propagations, read }) =>
        propagations.resume(read, name, { confirmPrune: confirmPrune === true, abandon: abandon ?? [] }),
    }),
    rollbackPropagation: t.field({
      type: outcome,
      nullable: false,
      description: 'Records an earlier revision anew. It is compensation, not a transaction: what has moved since is left, and said.',
      args: {
        ...nameArguments(t.arg),
        revision: t.arg.int({ description: 'Which. Absent: the last that differs and was not gone back from.' }),
      },
      resolve: (_root, { revision, ...name }, { propagations, read }) => propagations.rollback(read, name, revision ?? undefined),
    }),
    deletePropagation: t.field({
      type: outcome,
      nullable: false,
      description: 'Takes it back: its copies go as `deletion` says, and it goes after them.',
      args: {
        ...nameArguments(t.arg),
        deletion: t.arg({ type: defined.input<JsonObject>(deletionDefinition), description: 'Instead of what its spec says.' }),
      },
      resolve: (_root, { deletion, ...name }, { propagations, read }) => propagations.delete(read, name, deletion ?? undefined),
    }),
  }));
}
