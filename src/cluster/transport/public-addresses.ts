import { lookup } from 'node:dns';
import net from 'node:net';
import { clusterFailure } from '../cluster-failure.ts';
import type { AddressRule } from '../endpoint.ts';
import { ClusterFailureError } from './connection-errors.ts';

/**
 * Loopback, unspecified, link-local (with the metadata services of clouds) and unique local networks. A request there would use the position
 * of the gateway in its network. `net.BlockList` applies the rules for IPv4 to addresses that are mapped into IPv6 as well.
 */
const forbiddenNetworks = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '::/128', '::1/128', 'fe80::/10', 'fc00::/7'];

const forbidden = networkList(forbiddenNetworks);

/** True if a host is an IP address that the rule forbids. False for names: `createPublicLookup` judges what they resolve to. */
export function isForbiddenAddress(host: string, { allowPrivate }: AddressRule): boolean {
  const family = net.isIP(host);
  if (family === 0) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  return forbidden.check(host, type) && !networkList(allowPrivate).check(host, type);
}

/** The failure of a server whose address the rule forbids. It does not show the address. */
export function forbiddenAddress({ where }: AddressRule) {
  const networks = 'loopback, link-local and unique local networks';
  return clusterFailure('INVALID', `${where}: expected an address outside of ${networks}, or one that allowPrivate allows`, 'NEVER');
}

/**
 * Creates a `lookup` for `net.connect` that leaves out forbidden addresses. If none is left, it fails with `forbiddenAddress`. The socket
 * connects to the addresses that were judged, so a second answer of the name server cannot lead elsewhere.
 */
export function createPublicLookup(rule: AddressRule): net.LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '', 0);
      const allowed = found.filter(({ address }) => !isForbiddenAddress(address, rule));
      const [first] = allowed;
      if (first === undefined) return callback(new ClusterFailureError(forbiddenAddress(rule)), '', 0);
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** Returns a list of these networks in CIDR notation. */
function networkList(texts: readonly string[]): net.BlockList {
  const list = new net.BlockList();
  for (const text of texts) {
    const [address = '', bits] = text.split('/');
    list.addSubnet(address, Number(bits), net.isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return list;
}
