/** One thing that must hold before requests are welcome. */
export interface HealthCheck {
  readonly name: string;
  readonly isGood: boolean;
  /** What it is at, in a few words. */
  readonly detail: string;
}

/** Whether requests are welcome. A sick cluster never makes the gateway unready: it is data. */
export interface GatewayHealth {
  isReady(): boolean;
  checks(): readonly HealthCheck[];
}

/** The checks, a line each, in the form that `kubectl get --raw /readyz?verbose` has made familiar. */
export function readyzText(health: GatewayHealth): string {
  const lines = health.checks().map(({ name, isGood, detail }) => `[${isGood ? '+' : '-'}]${name} ${isGood ? 'ok' : 'not yet'}: ${detail}`);
  return `${[...lines, health.isReady() ? 'readyz check passed' : 'readyz check failed'].join('\n')}\n`;
}
