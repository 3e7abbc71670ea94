import type { Caller } from '../../access/access.ts';

/** One condition for the gateway to be ready. */
export interface HealthCheck {
  readonly name: string;
  readonly isGood: boolean;
  /** The current state, in a few words. */
  readonly detail: string;
}

/**
 * Readiness of the gateway. Only the hub must have been read once. Another cluster that fails never makes the gateway unready, because its fault is part
 * of the answers.
 */
export interface GatewayHealth {
  isReady(): boolean;
  /** Returns the checks that the caller may see: with authentication, those of the visible clusters, without numbers of objects. Never throws. */
  checks(caller: Caller): Promise<readonly HealthCheck[]>;
}

/** Returns one line for each check, in the format of `kubectl get --raw /readyz?verbose`. */
export async function readyzText(health: GatewayHealth, caller: Caller): Promise<string> {
  const checks = await health.checks(caller);
  const lines = checks.map(({ name, isGood, detail }) => `[${isGood ? '+' : '-'}]${name} ${isGood ? 'ok' : 'not yet'}: ${detail}`);
  return `${[...lines, health.isReady() ? 'readyz check passed' : 'readyz check failed'].join('\n')}\n`;
}
