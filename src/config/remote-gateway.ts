import path from 'node:path';
import { MusterError } from '../core/errors.ts';
import { describeValue } from '../core/json.ts';
import type { ConfigSources } from './load-config.ts';
import { checkedToken, readToken } from './token.ts';

/** A gateway that is already running. */
export interface RemoteGateway {
  /** The URL of `/graphql`. */
  readonly url: string;
  /** Reads the bearer token. A token file is read again each time, because tokens of an issuer are renewed. Default: no token. */
  readonly token?: () => Promise<string>;
}

/** The flags of the command line, as text. */
export interface RemoteFlags {
  readonly gateway?: string;
  readonly tokenFile?: string;
}

/**
 * Returns the running gateway to send requests to: `--gateway`, else `MUSTER_GATEWAY`, with the token of `--token-file`, else of
 * `MUSTER_TOKEN_FILE`, else `MUSTER_TOKEN`. Undefined if no gateway is named.
 *
 * @throws {MusterError} `BAD_INPUT`, one line, if the name is not a URL, or the token is missing or not a token.
 */
export async function remoteGateway({
  flags,
  environment,
  directory,
}: Omit<ConfigSources, 'flags'> & { readonly flags: RemoteFlags }): Promise<RemoteGateway | undefined> {
  const named = flags.gateway ?? (environment.MUSTER_GATEWAY || undefined);
  if (named === undefined) {
    if (flags.tokenFile === undefined) return undefined;
    throw new MusterError('BAD_INPUT', '--token-file is for a running gateway: expected --gateway with it');
  }
  const url = urlOf(named, flags.gateway === undefined ? 'MUSTER_GATEWAY' : '--gateway');
  const file = flags.tokenFile ?? (environment.MUSTER_TOKEN_FILE || undefined);
  const token = file === undefined ? tokenIn(environment.MUSTER_TOKEN) : () => readToken(path.resolve(directory, file));
  // Read once here, so that a wrong file ends the command before it begins.
  await token?.();
  return { url, ...(token === undefined ? {} : { token }) };
}

function tokenIn(variable: string | undefined): (() => Promise<string>) | undefined {
  if (variable === undefined || variable === '') return undefined;
  const token = checkedToken(variable, 'MUSTER_TOKEN');
  return async () => token;
}

/**
 * Returns the URL for an address: a URL, a host with a port such as `127.0.0.1:4000`, or only a port of this machine. The default path is
 * `/graphql`.
 */
function urlOf(text: string, by: string): string {
  const address = text.replace(/^:?(?=\d{1,5}\/?$)/, '127.0.0.1:');
  const url = URL.parse(/^[a-z]+:\/\//i.test(address) ? address : `http://${address}`);
  if (url !== null && `${url.username}${url.password}${url.search}` !== '')
    throw new MusterError('BAD_INPUT', `${by}: expected a URL without user and query: a token is read from --token-file`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new MusterError('BAD_INPUT', `${by}: expected a URL such as http://127.0.0.1:4000/graphql, got ${describeValue(text)}`);
  url.pathname = url.pathname.replace(/\/+$/, '') || '/graphql';
  url.hash = '';
  return url.href;
}
