import { lexicographicSortSchema, printSchema } from 'graphql';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { readBaseline } from '../load/catalog/baseline.ts';
import { createCustomModel } from '../load/catalog/custom-model.ts';
import { createGroupTest, type GroupRules, rememberedKinds } from '../load/catalog/group-filter.ts';
import { readSchemaLock } from '../load/catalog/schema-lock-file.ts';
import { buildGraph } from './graph.ts';

export interface OfflineSchemaOptions {
  /** The path of the lock file. A file that does not exist counts as empty. */
  readonly file: string;
  readonly groups: GroupRules;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/**
 * Prints the schema without a cluster, ordered by name: `schema/muster.graphql` with the custom kinds of the lock file.
 *
 * @throws {MusterError} `BAD_INPUT` if the file exists but cannot be read, or is no lock.
 */
export async function offlineSchema({ file, groups, clock, log }: OfflineSchemaOptions): Promise<string> {
  const lock = await readSchemaLock(file, clock.now());
  const baseline = await readBaseline();
  const earlier = rememberedKinds(lock, baseline, createGroupTest(baseline, groups)).map(({ schema }) => schema);
  const { model } = createCustomModel({ baseline, earlier, prefixes: lock.prefixes, log }).current();
  return `${printSchema(lexicographicSortSchema(buildGraph(model)))}\n`;
}
