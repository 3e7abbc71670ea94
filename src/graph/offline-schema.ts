import { lexicographicSortSchema, printSchema } from 'graphql';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { readBaseline } from '../load/catalog/baseline.ts';
import { createCustomModel } from '../load/catalog/custom-model.ts';
import { createGroupTest, type GroupRules, rememberedKinds } from '../load/catalog/group-filter.ts';
import { readSchemaLock } from '../load/catalog/schema-lock-file.ts';
import { buildGraph } from './graph.ts';

export interface OfflineSchemaOptions {
  /** The lock file. One that does not exist is empty. */
  readonly file: string;
  readonly groups: GroupRules;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/**
 * The schema as text, in order of names, without a cluster: `schema/muster.graphql` with the custom kinds that the lock file remembers.
 *
 * @throws {MusterError} `BAD_INPUT` if there is a file that cannot be read or is no lock.
 */
export async function offlineSchema({ file, groups, clock, log }: OfflineSchemaOptions): Promise<string> {
  const lock = await readSchemaLock(file, clock.now());
  const baseline = await readBaseline();
  const earlier = rememberedKinds(lock, baseline, createGroupTest(baseline, groups)).map(({ schema }) => schema);
  const { model } = createCustomModel({ baseline, earlier, prefixes: lock.prefixes, log }).current();
  return `${printSchema(lexicographicSortSchema(buildGraph(model)))}\n`;
}
