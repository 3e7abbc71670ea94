/** One condition for the gateway to be ready. */
export interface HealthCheck {
  readonly name: string;
  readonly isGood: boolean;
  /** The current state, in a few words. */
  readonly detail: string;
}

/** Readiness of the gateway. A failing cluster never makes the gateway unready, because its fault is part of the answers. */
export interface GatewayHealth {
  isReady(): boolean;
  checks(): readonly HealthCheck[];
}

/** Returns one line for each check, in the format of `kubectl get --raw /readyz?verbose`. */
export function readyzText(health: GatewayHealth): string {
  const lines = health.checks().map(({ name, isGood, detail }) => `[${isGood ? '+' : '-'}]${name} ${isGood ? 'ok' : 'not yet'}: ${detail}`);
  return `${[...lines, health.isReady() ? 'readyz check passed' : 'readyz check failed'].join('\n')}\n`;
}
