import type { Log } from '../core/log.ts';
import type { Model } from '../model/model.ts';
import type { SchemaLock } from '../model/schema-lock.ts';
import { readBaseline } from './baseline.ts';
import { createCustomModel } from './custom-model.ts';
import { createBelonging, type GroupRules, rememberedKinds } from './group-filter.ts';

interface OfflineModelOptions {
  readonly lock: SchemaLock;
  readonly groups: GroupRules;
  readonly log: Log;
}

/** The model that a gateway starts with before any cluster has answered: of the built-in kinds and those that are remembered. */
export async function offlineModel({ lock, groups, log }: OfflineModelOptions): Promise<Model> {
  const baseline = await readBaseline();
  const earlier = rememberedKinds(lock, baseline, createBelonging(baseline, groups)).map(({ schema }) => schema);
  return createCustomModel({ baseline, earlier, prefixes: lock.prefixes, log }).current().model;
}
