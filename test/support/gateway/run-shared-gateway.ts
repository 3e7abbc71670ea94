import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { vi } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { createAuthority } from '../identity/authority.ts';
import { startIssuer } from '../identity/issuer.ts';
import { type RunGatewayOptions, runGateway } from './run-gateway.ts';
import type { GraphAnswer } from './start-gateway.ts';

export interface SharedGatewayOptions extends Omit<RunGatewayOptions, 'configFile'> {
  /** The content of the config file, in addition to the issuer. */
  readonly config?: Readonly<Record<string, Json>>;
}

/**
 * Starts the whole gateway with authentication in this process, on its own port. Users come from an issuer of this process: the user `ann` is
 * `oidc:ann` in the clusters.
 */
export async function runSharedGateway({ config = {}, ...options }: SharedGatewayOptions) {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-shared-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const authority = createAuthority('identity provider');
  const issuer = stack.use(await startIssuer(authority));
  const caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, authority.ca);
  const authentication = { oidc: [{ issuer: issuer.url, audiences: ['muster'], caFile }] };
  const audit = { file: path.join(folder, 'audit.jsonl') };
  const configFile = JSON.stringify({ apiVersion: 'config.muster.dev/v1alpha1', authentication, audit, ...config });
  const { gateway, rewrite } = stack.use(await runGateway({ ...options, configFile }));
  const tokens = new Map<string, string>();
  const tokenOf = (user: string): string => {
    const token = tokens.get(user) ?? issuer.token({ sub: user });
    tokens.set(user, token);
    return token;
  };
  const ask = async <Data = Readonly<Record<string, unknown>>>(user: string, query: string, variables?: object) => {
    const headers = { 'content-type': 'application/json', ...as(user) };
    const answer = await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    const text = await answer.text();
    return { status: answer.status, text, ...(JSON.parse(text) as GraphAnswer<Data>) };
  };
  const as = (user: string) => ({ authorization: `Bearer ${tokenOf(user)}` });
  const rest = stack.move();
  return {
    url: gateway.url,
    issuer,
    rewrite,
    /** The header with which a user shows who it is. */
    as,
    /** Sends one operation as a user, and returns the answer with its text. */
    ask,
    /** Returns the name of the first cluster that a user sees, as soon as there is one. */
    async firstCluster(user: string): Promise<string> {
      const look = async () => (await ask<{ clusters: { name: string }[] }>(user, '{ clusters { name } }')).data?.clusters[0]?.name;
      return (await vi.waitUntil(look, { timeout: 20_000 })) ?? '';
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}
