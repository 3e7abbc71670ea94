import { lookup } from 'node:dns';
import net from 'node:net';
import { clusterFailure } from '../cluster-failure.ts';
import type { AddressRule } from '../endpoint.ts';
import { ClusterFailureError } from './connection-errors.ts';

/**
 * Networks in which a request would use the position of the gateway. `net.BlockList` applies the rules for IPv4 to addresses that are mapped
 * into IPv6 (`::ffff:0:0/96`) as well.
 */
const forbiddenNetworks = [
  // Loopback, unspecified, link-local and unique local networks. The metadata services of most clouds are link-local or unique local.
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', 'fe80::/10', 'fec0::/10', 'fc00::/7'],
  // The metadata services of Alibaba Cloud, Azure and older Oracle clouds.
  ...['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  // Forms of IPv6 that contain an IPv4 address: compatible (with `::` and `::1`), translated, NAT64 of a site, Teredo and 6to4.
  ...['::/96', '::ffff:0:0:0/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'],
];

/**
 * The prefix of IPv4 addresses behind NAT64 (RFC 6052). Clusters with IPv6 only reach public IPv4 addresses through it, so the IPv4 address inside is
 * judged.
 */
const nat64Prefix = '64:ff9b::';

const forbidden = networkList(forbiddenNetworks);

/** The list of each rule's `allowPrivate`. A new list costs more than the check, and the clusters of one config share the array. */
const allowedLists = new WeakMap<readonly string[], net.BlockList>();

/** True if a host is an IP address that the rule forbids. False for names: `createPublicLookup` judges what they resolve to. */
export function isForbiddenAddress(host: string, { allowPrivate }: AddressRule): boolean {
  const family = net.isIP(host);
  if (family === 0) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  return forbidden.check(host, type) && !allowedList(allowPrivate).check(host, type);
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

/**
 * Returns an allowed address of a host, for a proxy, which would resolve the name itself. IPv4 is preferred, because more proxies have it.
 *
 * @throws {ClusterFailureError} `forbiddenAddress` if no address is allowed, or an error of `dns.lookup`.
 */
export function publicAddressOf(host: string, rule: AddressRule): Promise<string> {
  if (net.isIP(host) !== 0) return Promise.resolve(host);
  return new Promise((resolve, reject) => {
    createPublicLookup(rule)(host, { order: 'ipv4first' }, (error, address) => (error === null ? resolve(String(address)) : reject(error)));
  });
}

function allowedList(allowPrivate: readonly string[]): net.BlockList {
  const list = allowedLists.get(allowPrivate) ?? networkList(allowPrivate);
  allowedLists.set(allowPrivate, list);
  return list;
}

/** Returns a list of these networks in CIDR notation, those of IPv4 also behind NAT64. */
function networkList(texts: readonly string[]): net.BlockList {
  const list = new net.BlockList();
  for (const text of texts) {
    const [address = '', bits] = text.split('/');
    if (net.isIPv6(address)) list.addSubnet(address, Number(bits), 'ipv6');
    else {
      list.addSubnet(address, Number(bits), 'ipv4');
      list.addSubnet(nat64Prefix + address, 96 + Number(bits), 'ipv6');
    }
  }
  return list;
}
