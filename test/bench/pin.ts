import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Binds a process to one core with `taskset`, so that server and client do not compete for a core. No effect where `taskset` is missing.
 */
export function pin(core: number, pid = process.pid): void {
  if (availableParallelism() < 2) return;
  try {
    execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
  } catch {
    // `taskset` is missing on this system.
  }
}
