import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Keeps a process on one core where the system can (`taskset`), so that server and client do not chase each other. Else without effect. */
export function pin(core: number, pid = process.pid): void {
  if (availableParallelism() < 2) return;
  try {
    execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
  } catch {
    // Not on this system.
  }
}
