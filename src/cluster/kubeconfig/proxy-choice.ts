import net from 'node:net';

/** The environment variables of a process. */
export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy of the environment for this server: `HTTPS_PROXY`, unless `NO_PROXY` excludes the server or the server is loopback.
 * Lower-case names work too. Undefined: the server is reached without a proxy.
 *
 * `NO_PROXY` is read as Go reads it: `*`, domains with their subdomains, addresses and networks (`10.0.0.0/8`), each with an optional port.
 */
export function proxyFor(server: URL, environment: ProcessEnvironment): string | undefined {
  const proxy = environment.HTTPS_PROXY || environment.https_proxy;
  if (proxy === undefined || proxy === '' || server.protocol !== 'https:') return undefined;
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = server.port === '' ? '443' : server.port;
  if (host === 'localhost' || isLoopback(host)) return undefined;
  const exceptions = (environment.NO_PROXY || environment.no_proxy || '').split(',');
  if (exceptions.some((exception) => matchesException(exception.trim().toLowerCase(), host, port))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function matchesException(exception: string, host: string, port: string): boolean {
  if (exception === '') return false;
  if (exception === '*') return true;
  if (exception.includes('/')) return inNetwork(exception, host);
  const [, name = exception, wantedPort] = /^(.*?|\[.*\])(?::(\d+))?$/.exec(net.isIPv6(exception) ? `[${exception}]` : exception) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const bare = name.replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
  const wantsBelow = /^\*?\./.test(name);
  return (host === bare && !wantsBelow) || (net.isIP(host) === 0 && host.endsWith(`.${bare}`));
}

function inNetwork(network: string, host: string): boolean {
  const family = net.isIP(host);
  const [address = '', bits = ''] = network.split('/');
  if (family === 0 || net.isIP(address) !== family || !/^\d+$/.test(bits)) return false;
  const list = new net.BlockList();
  const type = family === 4 ? 'ipv4' : 'ipv6';
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  list.addSubnet(address, Number(bits), type);
  return list.check(host, type);
}

function isLoopback(host: string): boolean {
  return host === '::1' || (net.isIPv4(host) && host.startsWith('127.'));
}
