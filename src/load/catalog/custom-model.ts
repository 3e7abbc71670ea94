import { keyOfKind } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import { type CreatedModel, createModel } from '../../model/create-model.ts';
import type { Model } from '../../model/model.ts';
import { describedModel, type ModelDescriptions } from '../../model/model-descriptions.ts';
import type { KindSchema } from '../../model/shapes.ts';

/** The model of the built-in kinds and of the custom ones. */
interface CustomModel {
  /** The newest; its problems are of the groups that it could not take in. */
  current(): CreatedModel;
  /** Takes the custom kinds in place of those before, and which kinds nobody serves. True if that made another model. */
  take(custom: readonly KindSchema[], unserved: ReadonlySet<string>): boolean;
  /** Takes over what built-in types mean, in place of what was said of them before: another model. */
  describe(descriptions: ModelDescriptions): void;
}

interface CustomModelOptions {
  readonly baseline: Model;
  /** As defined in earlier runs, each kind once. */
  readonly earlier: readonly KindSchema[];
  /** As `createModel` gave them then. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly log: Log;
}

/** The baseline with what earlier runs knew. A group that cannot be built stays as it last was, or is left out; paths that become `JSON` are logged. */
export function createCustomModel({ baseline, earlier, prefixes, log }: CustomModelOptions): CustomModel {
  let described = baseline;
  let unserved: ReadonlySet<string> = new Set();
  let taken: readonly KindSchema[] = [];
  let built: readonly KindSchema[] = [];
  let created: CreatedModel = { model: baseline, prefixes, problems: [] };

  function create(): void {
    const conflicts = conflictsOf(created.model);
    const sources = { baseline: described, prefixes: created.prefixes, unserved };
    let next = createModel({ ...sources, custom: taken });
    let custom = taken;
    if (next.problems.length > 0) {
      const failed = new Set(next.problems.map(({ group }) => group));
      custom = [...taken.filter(({ group }) => !failed.has(group)), ...built.filter(({ group }) => failed.has(group))];
      next = { ...createModel({ ...sources, custom }), problems: next.problems };
    }
    built = custom;
    created = next;
    for (const [key, paths] of conflictsOf(next.model)) {
      if (conflicts.get(key) !== paths) log.warn({ kind: key, paths }, 'clusters define a kind differently: these paths become JSON');
    }
  }

  function take(custom: readonly KindSchema[], nowUnserved: ReadonlySet<string>): boolean {
    const known = new Map(taken.map((schema) => [keyOfKind(schema), schema]));
    const isSame = custom.length === taken.length && custom.every((schema) => known.get(keyOfKind(schema)) === schema);
    if (isSame && equalSets(nowUnserved, unserved)) return false;
    taken = custom;
    unserved = nowUnserved;
    create();
    return true;
  }

  take(earlier, unserved);
  return {
    current: () => created,
    take,
    describe(descriptions) {
      described = describedModel(baseline, descriptions);
      create();
    },
  };
}

function conflictsOf({ kinds }: Model): ReadonlyMap<string, string> {
  return new Map([...kinds].filter(([, { conflicts }]) => conflicts.length > 0).map(([key, { conflicts }]) => [key, conflicts.join(', ')]));
}

function equalSets(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
