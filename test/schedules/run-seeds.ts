import { writeFileSync } from 'node:fs';

/** The outcome of one seed. */
export interface SeedResult {
  readonly records: readonly string[];
  readonly violations: readonly string[];
  /** The situations that the seed has reached, such as `undo from Drain`. The last line has those of all seeds. */
  readonly reached: readonly string[];
}

interface SeedRun {
  /** The name of the schedules in lines and files, such as `migration`. */
  readonly name: string;
  readonly first: number;
  readonly seeds: number;
  readonly run: (seed: number) => Promise<SeedResult>;
}

/**
 * Runs the schedules of these seeds, one after the other. Prints a line for each, and everything about a seed with violations. Returns the
 * number of seeds with violations.
 */
export async function runSeeds({ name, first, seeds, run }: SeedRun): Promise<number> {
  let failures = 0;
  const all = new Set<string>();
  for (let seed = first; seed < first + seeds; seed += 1) {
    const startedMs = performance.now();
    const { records, violations, reached } = await resultOf(run, seed);
    for (const one of reached) all.add(one);
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    const verdict = violations.length === 0 ? 'good' : `${violations.length} violations`;
    console.log(`${name} seed ${seed}: ${records.length} events in ${seconds} s, reached ${reached.join(', ') || 'nothing'}: ${verdict}`);
    if (violations.length === 0) continue;
    failures += 1;
    const file = `schedule-${name}-${seed}.log`;
    writeFileSync(file, [...violations, '', ...records, ''].join('\n'));
    console.log([...violations.map((one) => `  ${one}`), ...records.map((one) => `    ${one}`)].join('\n'));
    console.log(`  ${file} has this too. Run it again with --first ${seed} --seeds 1`);
  }
  const verdict = failures === 0 ? 'good' : `${failures} with violations`;
  console.log(`${seeds} seeds of ${name}s, reached ${[...all].toSorted().join(', ')}: ${verdict}`);
  return failures;
}

async function resultOf(run: SeedRun['run'], seed: number): Promise<SeedResult> {
  try {
    return await run(seed);
  } catch (error) {
    return { records: [], violations: [error instanceof Error ? (error.stack ?? error.message) : String(error)], reached: [] };
  }
}
