import type { MigrateInput } from '../../migrate/model/migrate-input.ts';
import { migrateInput } from '../../migrate/model/migration-spec-definition.ts';
import type { MigrationView } from '../../migrate/model/migrations.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { ObjectRefOf } from '../builder/pothos.ts';
import { SourceCarrier } from '../context/subscribe.ts';
import { addHubPage, listArguments, listFilterOf, nameArguments } from '../propagation/hub-resources.ts';
import { type AddedPropagation, checkedDigest } from '../propagation/propagation-root.ts';
import { latestStateSource } from '../propagation/propagation-source.ts';
import { addMigrationPlan } from './migration-plan-types.ts';
import { addMigrationTypes } from './migration-types.ts';

/** Adds the queries, mutations and the subscription of Migrations. */
export function addMigration(builder: GraphBuilder, using: AddedPropagation): void {
  const types = addMigrationTypes(builder, using);
  const { migration } = types;
  const plan = addMigrationPlan(builder, using, types);
  const input = using.defined.input<MigrateInput>(migrateInput);
  builder.pothos.queryFields((t) => ({
    planMigration: t.field({
      type: plan,
      nullable: false,
      description:
        'The plan of a migration: the applications that move, the room that they need, and why others cannot move. Writes nothing.',
      args: { input: t.arg({ type: input, required: true, description: 'The migration.' }) },
      resolve: (_root, { input: requested }, { migrations, read }) => migrations.plan(read, requested),
    }),
    migration: t.field({
      type: migration,
      description: 'One Migration. Null if it does not exist.',
      args: nameArguments(t.arg, 'Migration'),
      resolve: (_root, name, { migrations, read }) => migrations.get(read, name),
    }),
  }));
  addList(builder, using, migration);
  addMutations(builder, using, migration);
  builder.pothos.subscriptionField('migration', (t) =>
    t.field({
      type: migration,
      nullable: false,
      description:
        'The whole state of one Migration: once at the start, then after each change of a selected field. Ends with `GONE` when the Migration ' +
        'is deleted.',
      args: nameArguments(t.arg, 'Migration'),
      subscribe: (_root, name, { migrations, read }): AsyncIterable<MigrationView> =>
        new SourceCarrier(
          latestStateSource<MigrationView>(name, {
            kind: 'migration',
            get: () => migrations.get(read, name),
            follow: (listener, signal) => migrations.follow(read, name, listener, signal),
          }),
        ),
      resolve: (view) => view,
    }),
  );
}

function addList(builder: GraphBuilder, { defined }: AddedPropagation, migration: ObjectRefOf<MigrationView>): void {
  const connection = addHubPage(builder, 'Migration', migration);
  builder.pothos.queryField('migrations', (t) =>
    t.field({
      type: connection,
      nullable: false,
      description: 'The Migrations of the hub.',
      args: listArguments(t.arg, 'Migration', defined),
      resolve: (_root, args, { migrations, read }) => migrations.list(read, listFilterOf(args)),
    }),
  );
}

function addMutations({ pothos }: GraphBuilder, { defined }: AddedPropagation, migration: ObjectRefOf<MigrationView>): void {
  pothos.mutationFields((t) => ({
    migrate: t.field({
      type: migration,
      nullable: false,
      description:
        'Records a migration on the hub, and answers at once. The gateway then carries it out. Nothing is recorded if the answer has the phase ' +
        '`HELD`, because the current plan has another digest, or `FAILED`, because a note is an error. The same input once more resumes the ' +
        'applications that have failed.',
      args: {
        input: t.arg({ type: defined.input<MigrateInput>(migrateInput), required: true, description: 'The migration.' }),
        digest: t.arg.string({
          description:
            'The digest of a plan of this input. If the current plan has another digest, nothing is recorded. Default: no check.',
        }),
        dryRun: t.arg.boolean({
          defaultValue: false,
          description: 'True: nothing is saved. The answer shows the Migration, in phase `PLANNING`.',
        }),
      },
      resolve: (_root, { input, digest, dryRun }, { migrations, read }) =>
        migrations.migrate(read, { input, digest: checkedDigest(digest), isDryRun: dryRun === true }),
    }),
    undoMigration: t.field({
      type: migration,
      nullable: false,
      description:
        'Undoes a migration, also one that has ended: the gateway moves the applications back, until they run in the source as before. A ' +
        'second request continues an undo that is paused.',
      args: nameArguments(t.arg, 'Migration'),
      resolve: (_root, name, { migrations, read }) => migrations.undo(read, name),
    }),
  }));
}
