import { createPrivateKey, X509Certificate } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { MusterError } from '../core/errors.ts';
import type { Config, ConfiguredAuthentication, ConfiguredTls } from './config.ts';
import type { ConfigFile } from './config-file.ts';
import { defaultIdentityPrefix, tokenAlgorithms } from './defaults.ts';

/** The settings about callers. */
type CallerSettings = Pick<Config, 'tls' | 'authentication' | 'audit'>;

/** Returns the settings about callers, with defaults. `pathOf` makes a path of the file absolute. */
export function callerSettingsOf(file: Partial<ConfigFile>, pathOf: (given: string) => string): CallerSettings {
  const { tls, authentication, audit } = file;
  const writesAudit = audit !== undefined || authentication !== undefined;
  return {
    tls: tls && { certFile: pathOf(tls.certFile), keyFile: pathOf(tls.keyFile) },
    authentication: authentication && authenticationOf(authentication, pathOf),
    audit: writesAudit ? { file: audit && pathOf(audit.file) } : undefined,
  };
}

function authenticationOf(
  { oidc = [], tokenReview, clientCertificates, proxy }: NonNullable<ConfigFile['authentication']>,
  pathOf: (given: string) => string,
): ConfiguredAuthentication {
  return {
    oidc: oidc.map(({ issuer, audiences, caFile, algorithms, ...names }) => ({
      ...{ issuer, audiences, caFile: caFile && pathOf(caFile) },
      usernameClaim: names.usernameClaim ?? 'sub',
      groupsClaim: names.groupsClaim ?? 'groups',
      usernamePrefix: names.usernamePrefix ?? defaultIdentityPrefix,
      groupsPrefix: names.groupsPrefix ?? defaultIdentityPrefix,
      algorithms: algorithms ?? tokenAlgorithms,
    })),
    tokenReview,
    clientCertificates: clientCertificates && { caFile: pathOf(clientCertificates.caFile) },
    proxy: proxy && { ...proxy, caFile: pathOf(proxy.caFile) },
  };
}

/**
 * Checks the files of the settings about callers: each can be read, certificate files hold certificates, and the key of `tls` belongs to its
 * certificate. Also opens the file of the audit for writing, which creates a missing file. Call this function before the gateway listens.
 *
 * @throws {MusterError} `BAD_INPUT` with one line: the config file, the path of the key, and the problem.
 */
export async function checkCallerFiles({ configFile, tls, authentication, audit }: Config): Promise<void> {
  const refuse = (key: string, message: string, cause: unknown): never => {
    throw new MusterError('BAD_INPUT', `${configFile}: ${key}: ${message}`, { cause });
  };
  const checked = async (key: string, check: () => Promise<unknown>) => {
    try {
      await check();
    } catch (error) {
      refuse(key, problemOf(error), error);
    }
  };
  const authority = (key: string, file: string | undefined) =>
    file === undefined ? undefined : checked(key, async () => certificatesIn(await readFile(file, 'utf8'), file));
  if (tls !== undefined) {
    await checked('tls.certFile', async () => certificatesIn(await readFile(tls.certFile, 'utf8'), tls.certFile));
    await checked('tls.keyFile', () => readTls(tls));
  }
  for (const [index, { caFile }] of (authentication?.oidc ?? []).entries()) await authority(`authentication.oidc[${index}].caFile`, caFile);
  await authority('authentication.clientCertificates.caFile', authentication?.clientCertificates?.caFile);
  await authority('authentication.proxy.caFile', authentication?.proxy?.caFile);
  const file = audit?.file;
  if (file !== undefined) await checked('audit.file', async () => (await open(file, 'a', 0o600)).close());
}

/** The content of the files of `tls`, and of the files with authorities of clients. */
export interface TlsFiles {
  /** PEM: the certificate of the gateway, then those of intermediate authorities. */
  readonly cert: string;
  /** PEM: the private key of the certificate. */
  readonly key: string;
  /** The authorities of callers' certificates. Empty without `clientCertificates`. */
  readonly clients: readonly X509Certificate[];
  /** The authorities of proxies' certificates. Empty without `proxy`. */
  readonly proxies: readonly X509Certificate[];
  /** The paths of all these files. */
  readonly paths: readonly string[];
}

/**
 * Reads the files of `tls` and of the authorities of clients. Undefined without `tls`.
 *
 * @throws {Error} if a file cannot be read, or is not what `checkCallerFiles` expects.
 */
export async function readTlsFiles({ tls, authentication }: Pick<Config, 'tls' | 'authentication'>): Promise<TlsFiles | undefined> {
  if (tls === undefined) return undefined;
  const files = [authentication?.clientCertificates?.caFile, authentication?.proxy?.caFile];
  const read = async (file: string | undefined) => (file === undefined ? [] : certificatesIn(await readFile(file, 'utf8'), file));
  const [identity, clients = [], proxies = []] = await Promise.all([readTls(tls), ...files.map(read)]);
  const paths = [tls.certFile, tls.keyFile, ...files.filter((file) => file !== undefined)];
  return { ...identity, clients, proxies, paths };
}

/** Reads the certificate and the key. @throws {Error} if a file cannot be read, or if the key is not that of the certificate. */
async function readTls({ certFile, keyFile }: ConfiguredTls): Promise<Pick<TlsFiles, 'cert' | 'key'>> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  const [first] = certificatesIn(cert, certFile);
  if (first?.checkPrivateKey(privateKeyIn(key, keyFile)) !== true)
    throw new MusterError('BAD_INPUT', `expected the key of the certificate in ${certFile}, got another key in ${keyFile}`);
  return { cert, key };
}

/** Returns the certificates in the PEM text of a file. @throws {MusterError} `BAD_INPUT` if there is none, or if one is malformed. */
function certificatesIn(pem: string, file: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
  } catch {
    // Reported below: the message of OpenSSL does not help.
  }
  throw new MusterError('BAD_INPUT', `expected certificates in PEM in ${file}`);
}

function privateKeyIn(pem: string, file: string) {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new MusterError('BAD_INPUT', `expected a private key in PEM without a passphrase in ${file}`, { cause: error });
  }
}

function problemOf(error: unknown): string {
  if (error instanceof MusterError) return error.message;
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message;
  return code === 'ENOENT' ? `there is no file ${path}` : `cannot open ${path}: ${code}`;
}
