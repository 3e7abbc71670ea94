import type { Duplex } from 'node:stream';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import type { PeerCertificate } from '../../identity/authenticator.ts';

const known = new WeakMap<TLSSocket, PeerCertificate>();

/**
 * Returns the certificate that the client of a connection has shown. Undefined if there is none, if no authority of the listener signed it,
 * or if it was out of date at the handshake. The same object for all requests of a connection.
 */
export function peerCertificateOf(socket: Duplex): PeerCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const found = known.get(socket);
  if (found !== undefined) return found;
  const detailed = socket.getPeerCertificate(true);
  if (detailed.raw === undefined) return undefined;
  const { CN, O } = detailed.subject as Readonly<Record<string, string | readonly string[] | undefined>>;
  const read = {
    commonNames: textsOf(CN),
    organizations: textsOf(O),
    chain: chainOf(detailed),
    expiresAtMs: Date.parse(detailed.valid_to),
  };
  known.set(socket, read);
  return read;
}

/** Returns the values of an attribute. Node gives a list if the attribute occurs several times. */
function textsOf(attribute: string | readonly string[] | undefined): readonly string[] {
  return attribute === undefined ? [] : typeof attribute === 'string' ? [attribute] : attribute;
}

function chainOf(first: DetailedPeerCertificate): readonly Uint8Array[] {
  const chain = new Map<string, Uint8Array>();
  // A self-signed authority is its own issuer. There the loop ends.
  for (let current = first; current?.raw !== undefined && !chain.has(current.fingerprint256); current = current.issuerCertificate)
    chain.set(current.fingerprint256, current.raw);
  return [...chain.values()];
}
