import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Authority } from './authority.ts';

/** Claims of a token. `undefined` leaves out a claim. */
export type TestClaims = Readonly<Record<string, unknown>>;

/** An OpenID issuer over HTTPS in this process: discovery, keys and tokens. It begins with the keys `rsa` (RS256) and `ec` (ES256). */
export interface TestIssuer extends AsyncDisposable {
  /** Its URL, and `iss` of its tokens. */
  readonly url: string;
  /** Number of requests for its keys. */
  readonly keyRequests: () => number;
  /** Makes a token of ten minutes for the audience `muster`. */
  token(claims: TestClaims, options?: { readonly kid?: string; readonly header?: TestClaims }): string;
  /** The private key, to sign tokens that the issuer would not make. */
  privateKey(kid: string): KeyObject;
  /** The public key in PEM. */
  publicKey(kid: string): string;
  addKey(kid: string, alg: string): void;
  removeKey(kid: string): void;
  /** Replaces the discovery document. Undefined: the usual one. */
  discovery: unknown;
  /** Refuses connections until `comeBack`. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

interface IssuerKey {
  readonly alg: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Starts an issuer whose certificate the authority signs. `now`: Unix milliseconds for the times of tokens. */
export async function startIssuer(authority: Authority, now: () => number = Date.now): Promise<TestIssuer> {
  const keys = new Map<string, IssuerKey>();
  let keyRequests = 0;
  const keyOf = (kid: string): IssuerKey => {
    const key = keys.get(kid);
    if (key === undefined) throw new Error(`expected a key of the issuer, got ${kid}`);
    return key;
  };
  const published = () => [...keys].map(([kid, { alg, publicKey }]) => ({ ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' }));
  const { cert, key } = authority.issue({ cn: 'issuer', hosts: ['127.0.0.1'] });
  const server = https.createServer({ cert, key }, (request, response) => {
    if (request.url === '/keys') keyRequests++;
    const usual = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` };
    const answers: Record<string, unknown> = {
      '/keys': { keys: published() },
      '/.well-known/openid-configuration': issuer.discovery ?? usual,
    };
    const answer = answers[request.url ?? ''];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  const listenOn = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const leave = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listenOn(0);
  const { port } = server.address() as AddressInfo;
  const issuer: TestIssuer = {
    url: `https://127.0.0.1:${port}`,
    keyRequests: () => keyRequests,
    token: (claims, { kid = 'rsa', header = {} } = {}) => {
      const seconds = Math.floor(now() / 1_000);
      const { alg, privateKey } = keyOf(kid);
      const standard = { iss: issuer.url, aud: 'muster', iat: seconds, exp: seconds + 600 };
      return signToken({ alg, kid, typ: 'JWT', ...header }, { ...standard, ...claims }, privateKey);
    },
    privateKey: (kid) => keyOf(kid).privateKey,
    publicKey: (kid) => keyOf(kid).publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    addKey: (kid, alg) => void keys.set(kid, { alg, ...pairFor(alg) }),
    removeKey: (kid) => void keys.delete(kid),
    discovery: undefined,
    leave,
    comeBack: () => listenOn(port),
    [Symbol.asyncDispose]: leave,
  };
  issuer.addKey('rsa', 'RS256');
  issuer.addKey('ec', 'ES256');
  return issuer;
}

function pairFor(alg: string) {
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  return alg.startsWith('ES') ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** Makes a JWS in compact form. `key` is a private key, or a function that signs the text. */
export function signToken(header: TestClaims, claims: TestClaims, key: KeyObject | ((text: string) => Uint8Array | string)): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const hash = header.alg === 'EdDSA' ? null : 'sha256';
  const signature = typeof key === 'function' ? key(text) : sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${Buffer.from(signature).toString('base64url')}`;
}
