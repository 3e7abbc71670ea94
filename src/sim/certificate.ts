import { isIP } from 'node:net';

export interface CertificateOptions {
  /** Names and addresses of the server. Default: `127.0.0.1`, `::1`, `localhost` and `kubernetes`. */
  readonly hosts?: readonly string[];
  /** Default: one hour ago. */
  readonly notBefore?: Date;
  /** Default: ten years from now. */
  readonly notAfter?: Date;
}

/** A serving certificate, its key, and the certificate of its authority, all as PEM. */
export interface ServingCertificate {
  readonly key: string;
  readonly certificate: string;
  readonly ca: string;
}

const hourMs = 3_600_000;

/**
 * Creates a new authority and a serving certificate signed by it (ECDSA P-256, X.509 v3). The keys never leave the process. Use them on
 * loopback only.
 */
export async function createCertificate(options: CertificateOptions = {}): Promise<ServingCertificate> {
  const { hosts = ['127.0.0.1', '::1', 'localhost', 'kubernetes'] } = options;
  // The import takes 0.1 s, so only processes that start an embedded cluster load it.
  const { generate } = await import('selfsigned');
  const common = {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: options.notBefore ?? new Date(Date.now() - hourMs),
    notAfterDate: options.notAfter ?? new Date(Date.now() + 87_600 * hourMs),
  } as const;
  const authority = await generate([{ name: 'commonName', value: `kubernetes-${crypto.randomUUID().slice(0, 8)}` }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  const serving = await generate([{ name: 'commonName', value: 'kube-apiserver' }], {
    ...common,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'subjectAltName', altNames: hosts.map((host) => (isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host })) },
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', serverAuth: true },
    ],
  });
  return { key: serving.private, certificate: serving.cert, ca: authority.cert };
}
