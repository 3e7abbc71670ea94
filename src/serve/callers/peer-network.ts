import { isIPv6 } from 'node:net';

/**
 * Returns the network of a client, which stands for a client without an identity: an IPv4 address, or the first 64 bits of an IPv6 address.
 * One client usually has all IPv6 addresses with these 64 bits.
 *
 * The address is that of the connection. Headers such as `X-Forwarded-For` do not count, because any client can send them.
 */
export function networkOf(address = ''): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [start = '', end] = address.split('%')[0]?.split('::') ?? [];
  const first = start === '' ? [] : start.split(':');
  const last = end === undefined || end === '' ? [] : end.split(':');
  const zeros = end === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...Array.from({ length: zeros }, () => '0'), ...last];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
