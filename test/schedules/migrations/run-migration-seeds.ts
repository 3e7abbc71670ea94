import { writeFileSync } from 'node:fs';
import { runMigrationSchedule } from './run-migration-schedule.ts';

/**
 * Runs the schedules of these seeds over embedded clusters, one after the other. Prints a line for each, and everything about a seed with
 * violations. Returns the number of seeds with violations.
 */
export async function runMigrationSeeds({ first, seeds }: { readonly first: number; readonly seeds: number }): Promise<number> {
  let failures = 0;
  const undone = new Set<string>();
  for (let seed = first; seed < first + seeds; seed += 1) {
    const startedMs = performance.now();
    const { records, violations, undoneFrom } = await resultOf(seed);
    for (const step of undoneFrom) undone.add(step);
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    console.log(
      `seed ${seed}: ${records.length} events in ${seconds} s, ${violations.length === 0 ? 'good' : `${violations.length} violations`}`,
    );
    if (violations.length === 0) continue;
    failures += 1;
    const file = `schedule-migration-${seed}.log`;
    writeFileSync(file, [...violations, '', ...records, ''].join('\n'));
    console.log([...violations.map((one) => `  ${one}`), ...records.map((one) => `    ${one}`)].join('\n'));
    console.log(`  ${file} has this too. Run it again with --first ${seed} --seeds 1`);
  }
  console.log(
    `${seeds} seeds of migrations, undone from ${[...undone].join(', ')}: ${failures === 0 ? 'good' : `${failures} with violations`}`,
  );
  return failures;
}

async function resultOf(seed: number): ReturnType<typeof runMigrationSchedule> {
  try {
    return await runMigrationSchedule(seed);
  } catch (error) {
    return { records: [], violations: [error instanceof Error ? (error.stack ?? error.message) : String(error)], undoneFrom: [] };
  }
}
