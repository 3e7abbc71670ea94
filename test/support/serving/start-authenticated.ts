import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tokenAlgorithms } from '../../../src/config/defaults.ts';
import type { Authenticator } from '../../../src/identity/authenticator.ts';
import { type AuthenticatorOptions, createAuthenticator } from '../../../src/identity/create-authenticator.ts';
import { createAuthority } from '../identity/authority.ts';
import { startIssuer } from '../identity/issuer.ts';
import { createManualClock } from '../manual-clock.ts';
import { fedSchema, HandFedSource } from './hand-fed-streams.ts';
import { type ServingChanges, startServing } from './start-serving.ts';

export interface AuthenticatedChanges extends Omit<ServingChanges, 'authenticator'> {
  readonly authentication?: Partial<AuthenticatorOptions['settings']>;
  readonly authorities?: AuthenticatorOptions['authorities'];
  readonly hub?: AuthenticatorOptions['hub'];
}

/**
 * Starts the edge with authentication, over a hand-fed source and with a clock that only the test moves. Tokens come from an issuer over HTTPS
 * in this process.
 */
export async function startAuthenticated({ authentication, authorities, hub, ...changes }: AuthenticatedChanges = {}) {
  await using stack = new AsyncDisposableStack();
  const clock = createManualClock({ startMs: Date.now() });
  const authority = createAuthority('identity provider');
  const issuer = stack.use(await startIssuer(authority, () => clock.now()));
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-authenticated-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, authority.ca);
  const life = new AbortController();
  stack.defer(() => life.abort());
  const names = { usernameClaim: 'sub', groupsClaim: 'groups', usernamePrefix: 'oidc:', groupsPrefix: 'oidc:' };
  const settings = {
    oidc: [{ issuer: issuer.url, audiences: ['muster'], caFile, algorithms: tokenAlgorithms, ...names }],
    ...authentication,
  };
  const authenticator: Authenticator = createAuthenticator(
    { settings, authorities: authorities ?? (() => ({ clients: [], proxies: [] })), hub: hub ?? (() => undefined), clock },
    life.signal,
  );
  const source = new HandFedSource();
  const { schema, fields } = fedSchema(source);
  const edge = stack.use(await startServing({ schema: () => schema, clock, ...changes, authenticator }));
  const rest = stack.move();
  return {
    ...edge,
    ...{ issuer, clock, source, fields },
    /** The header of a token of this user. */
    as: (sub: string, claims = {}) => ({ authorization: `Bearer ${issuer.token({ sub, ...claims })}` }),
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}
