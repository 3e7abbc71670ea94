import type { Log } from '../core/log.ts';
import { type CreatedModel, createModel } from '../model/create-model.ts';
import type { Model } from '../model/model.ts';
import { describedModel, type ModelDescriptions } from '../model/model-descriptions.ts';
import type { KindSchema } from '../model/shapes.ts';
import { createGrownKinds } from './grown-kinds.ts';

/** The model of the built-in kinds and of all custom ones that were ever defined: it only grows. */
export interface GrownModel {
  /** The newest; its problems are of the groups that it could not take in. */
  current(): CreatedModel;
  /** The custom kinds as they are joined by now, each once. */
  schemas(): readonly KindSchema[];
  /** Takes in definitions, and which kinds nobody serves. True if that made another model. */
  take(fresh: readonly KindSchema[], unserved: ReadonlySet<string>): boolean;
  /** Takes over what built-in types mean, in place of what was said of them before: another model. */
  describe(descriptions: ModelDescriptions): void;
}

export interface GrownModelOptions {
  readonly baseline: Model;
  /** As defined in earlier runs. */
  readonly earlier: readonly KindSchema[];
  /** As `createModel` gave them then. */
  readonly prefixes: ReadonlyMap<string, string>;
  readonly log: Log;
}

/** The baseline with what earlier runs knew. A group that cannot be built stays as it last was, or is left out; paths that become `JSON` are logged. */
export function createGrownModel({ baseline, earlier, prefixes, log }: GrownModelOptions): GrownModel {
  const grown = createGrownKinds();
  let described = baseline;
  let unserved: ReadonlySet<string> = new Set();
  let created: CreatedModel = { model: baseline, prefixes, problems: [] };

  function create(before: ReadonlyMap<string, KindSchema>): void {
    const conflicts = conflictsOf(created.model);
    const sources = { baseline: described, prefixes: created.prefixes, unserved };
    let next = createModel({ ...sources, custom: grown.all() });
    if (next.problems.length > 0) {
      for (const { group } of next.problems) grown.restore(group, before);
      next = { ...createModel({ ...sources, custom: grown.all() }), problems: next.problems };
    }
    created = next;
    for (const [key, paths] of conflictsOf(next.model)) {
      if (conflicts.get(key) !== paths) log.warn({ kind: key, paths }, 'clusters define a kind differently: these paths become JSON');
    }
  }

  function take(fresh: readonly KindSchema[], nowUnserved: ReadonlySet<string>): boolean {
    const before = grown.snapshot();
    const grew = fresh.map((schema) => grown.add(schema)).some(Boolean);
    if (!grew && equalSets(nowUnserved, unserved)) return false;
    unserved = nowUnserved;
    create(before);
    return true;
  }

  take(earlier, unserved);
  return {
    current: () => created,
    schemas: () => grown.all(),
    take,
    describe(descriptions) {
      described = describedModel(baseline, descriptions);
      create(grown.snapshot());
    },
  };
}

function conflictsOf({ kinds }: Model): ReadonlyMap<string, string> {
  return new Map([...kinds].filter(([, { conflicts }]) => conflicts.length > 0).map(([key, { conflicts }]) => [key, conflicts.join(', ')]));
}

function equalSets(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
