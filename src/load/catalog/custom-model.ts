import { keyOfKind } from '../../core/kinds.ts';
import type { Log } from '../../core/log.ts';
import { type CreatedModel, createModel } from '../../model/create-model.ts';
import type { Model } from '../../model/model.ts';
import { describedModel, type ModelDescriptions } from '../../model/model-descriptions.ts';
import type { KindSchema } from '../../model/shapes.ts';

/** The model of the built-in and the custom kinds. */
interface CustomModel {
  /** Returns the newest model. Its problems are about groups that it could not apply. */
  current(): CreatedModel;
  /**
   * Replaces the custom kinds and the set of kinds that no cluster serves, and rebuilds the model. Returns false, without a rebuild, if both
   * are unchanged.
   */
  take(custom: readonly KindSchema[], unserved: ReadonlySet<string>): boolean;
  /** Replaces the descriptions of built-in types, which changes the model. */
  describe(descriptions: ModelDescriptions): void;
}

interface CustomModelOptions {
  readonly baseline: Model;
  /** The custom kinds of earlier runs, each once. */
  readonly earlier: readonly KindSchema[];
  /** The prefixes that `createModel` returned in earlier runs. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly log: Log;
}

/**
 * Creates the model from the baseline and the kinds of earlier runs. A group that cannot be built keeps the kinds with which it was last
 * built. Without such kinds, the group is left out. Paths whose types differ between clusters become `JSON` and are logged.
 */
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
