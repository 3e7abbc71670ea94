import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../access/access.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Authenticator, CallerSession, CredentialMethod, Identification, RefusalReason } from '../../identity/authenticator.ts';
import { RequestRefusal } from '../../operations/refusal.ts';
import { CallerLoad, sharedLimits, unlimited } from './caller-load.ts';
import { peerCertificateOf } from './peer-certificate.ts';
import { networkOf } from './peer-network.ts';

/** The facts of a request or an upgrade that show who sent it. */
export type IdentifyingRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'socket'>;

/** Finds the caller of each request, on every path and transport. */
export interface RequestAuthenticator {
  /** True in local mode: probes and pages without data need no token. */
  readonly isLocal: boolean;
  readonly load: CallerLoad;
  /**
   * Returns the session of a request, at once if no other server must be called. `authorization` replaces the header of that name. A refusal
   * is counted and logged.
   *
   * @throws {RequestRefusal} 401 if the credential is not accepted. With authentication, its message is always the same. 503 if the credential
   * cannot be checked now. If a promise was returned, it rejects instead.
   */
  authenticate(request: IdentifyingRequest, authorization?: string): CallerSession | Promise<CallerSession>;
  /**
   * Returns the caller whom the headers or the certificate of a request show. Undefined if they show none, and in local mode. Reports no refusal,
   * because the client may still send another credential.
   */
  recognize(request: IdentifyingRequest): Caller | undefined | Promise<Caller | undefined>;
}

/** Called with the reason of each refusal. */
export type CountAuthFailure = (method: CredentialMethod, reason: RefusalReason | 'unavailable') => void;

/** Creates the authenticator of local mode: there is one caller, who may have to show the token of the gateway. */
export function createLocalAuthenticator(options: {
  /** Throws a 401 if the token of the gateway is required and the headers do not have it. */
  readonly checkToken: (headers: { readonly authorization?: string }) => void;
  readonly caller: Caller;
  readonly onFailure: CountAuthFailure;
}): RequestAuthenticator {
  const { checkToken, caller, onFailure } = options;
  const session: CallerSession = { caller, expiresAtMs: undefined, check: undefined };
  return {
    isLocal: true,
    load: new CallerLoad(unlimited),
    authenticate: ({ headers }, authorization = headers.authorization) => {
      try {
        checkToken({ ...(authorization === undefined ? {} : { authorization }) });
      } catch (error) {
        onFailure('token', authorization === undefined ? 'missing' : 'wrong');
        throw error;
      }
      return session;
    },
    recognize: () => undefined,
  };
}

export interface RequestAuthenticatorOptions {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly log: Log;
  readonly onFailure: CountAuthFailure;
  /** Called with the connection of each request whose caller is known. Default: not called. */
  readonly onIdentified?: ((socket: IdentifyingRequest['socket'], caller: Caller) => void) | undefined;
  /** Records each credential that is not accepted. Default: none is recorded. */
  readonly audit?: Pick<Audit, 'refusedLogin'> | undefined;
}

/** Creates the request authenticator of a gateway with authentication. */
export function createRequestAuthenticator({
  authenticator,
  clock,
  log,
  onFailure,
  onIdentified,
  audit,
}: RequestAuthenticatorOptions): RequestAuthenticator {
  const report = reportRefusals({ clock, log });
  const refusedAs = (refusal: (requestId: string) => RequestRefusal, { method }: RefusedIdentification, facts: RefusalFacts) => {
    const { address, ...logged } = facts;
    const { reason } = logged;
    const requestId = randomUUID();
    onFailure(method, reason);
    report({ requestId, method, ...logged });
    // A request without a credential is no attempt to log in.
    if (reason !== 'unavailable' && reason !== 'missing') audit?.refusedLogin({ requestId, method, reason, address });
    return refusal(requestId);
  };
  const sessionOf = (found: Identification, socket: IdentifyingRequest['socket']): CallerSession => {
    const address = socket.remoteAddress;
    switch (found.result) {
      case 'known':
        onIdentified?.(socket, found.session.caller);
        return found.session;
      case 'unknown':
        throw refusedAs(unauthenticated, found, { reason: found.reason, address });
      case 'unavailable':
        throw refusedAs(uncheckable, found, { reason: 'unavailable', problem: found.problem });
      default:
        return found satisfies never;
    }
  };
  const identify = ({ rawHeaders, socket }: IdentifyingRequest, authorization: string | undefined) => {
    const headerValues = (name: string) => valuesOf(rawHeaders, name.toLowerCase());
    const network = networkOf(socket.remoteAddress);
    return authenticator.identify({ authorization, network, headerValues, certificate: peerCertificateOf(socket) });
  };
  const callerIn = (found: Identification) => (found.result === 'known' ? found.session.caller : undefined);
  return {
    isLocal: false,
    load: new CallerLoad(sharedLimits),
    authenticate(request, authorization = request.headers.authorization) {
      const found = identify(request, authorization);
      return found instanceof Promise ? found.then((later) => sessionOf(later, request.socket)) : sessionOf(found, request.socket);
    },
    recognize(request) {
      const found = identify(request, request.headers.authorization);
      return found instanceof Promise ? found.then(callerIn) : callerIn(found);
    },
  };
}

/** Returns all values of a header. In `rawHeaders`, names and values alternate. */
function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter((_, position) => position % 2 === 1 && rawHeaders[position - 1]?.toLowerCase() === name);
}

type RefusedIdentification = Exclude<Identification, { readonly result: 'known' }>;

interface RefusalFacts {
  readonly reason: RefusalReason | 'unavailable';
  readonly problem?: string;
  /** The address of the peer. */
  readonly address?: string | undefined;
}

function unauthenticated(requestId: string): RequestRefusal {
  return new RequestRefusal({
    status: 401,
    code: 'UNAUTHENTICATED',
    message: 'expected credentials that this gateway accepts, such as a bearer token of its issuer',
    headers: { 'www-authenticate': 'Bearer', 'x-request-id': requestId },
  });
}

function uncheckable(requestId: string): RequestRefusal {
  return new RequestRefusal({
    status: 503,
    code: 'UNAVAILABLE',
    message: 'the credentials cannot be checked now: try again later',
    headers: { 'retry-after': '5', 'x-request-id': requestId },
  });
}

/** Maximum number of lines per second. Anyone can send wrong credentials, and the log must not fill up with them. */
const linesPerSecond = 10;

/**
 * Returns a function that logs why credentials are not accepted, with the id that the client gets. Lines have no names and no tokens. After
 * ten lines in one second, further ones are skipped and counted in the next line.
 */
function reportRefusals({ clock, log }: Pick<RequestAuthenticatorOptions, 'clock' | 'log'>) {
  let second = 0;
  let lines = 0;
  let skipped = 0;
  return (facts: RefusalFacts & { readonly requestId: string; readonly method: CredentialMethod }) => {
    const now = Math.floor(clock.monotonic() / 1_000);
    if (now !== second) {
      second = now;
      lines = 0;
    }
    lines++;
    if (lines > linesPerSecond) {
      skipped++;
      return;
    }
    const fields = { ...facts, ...(skipped === 0 ? {} : { skipped }) };
    if (facts.reason === 'unavailable') log.warn(fields, 'the credentials of a request cannot be checked');
    else log.info(fields, 'refused a request whose credentials are not accepted');
    skipped = 0;
  };
}
