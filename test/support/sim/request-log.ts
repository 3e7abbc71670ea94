import type { Clock } from '../../../src/core/clock.ts';
import type { AnswerContext } from '../../../src/sim/requests/sim-server.ts';
import type { SimRequest } from './sim-cluster.ts';

/** A request while it is served. The log shows it, and the server completes it. */
export type LoggedRequest = { -readonly [Key in keyof SimRequest]: SimRequest[Key] };

/** Maximum number of requests that are kept. */
const maxRequests = 100_000;

/** The requests of the server, the oldest first. */
export class RequestLog {
  readonly #clock: Clock;
  #requests: SimRequest[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get all(): readonly SimRequest[] {
    return this.#requests;
  }

  begin({ request, target, outlet }: AnswerContext): LoggedRequest {
    const logged: LoggedRequest = Object.assign(request, {
      startedMs: this.#clock.monotonic(),
      ...(target.type === 'resource' ? { resource: target.resource } : {}),
    });
    outlet.signal.addEventListener('abort', () => {
      logged.endedMs = this.#clock.monotonic();
    });
    if (this.#requests.length >= maxRequests * 1.25) this.#requests = this.#requests.slice(-maxRequests);
    this.#requests.push(logged);
    return logged;
  }
}
