import { isIP } from 'node:net';

/** True for a host that only this machine can reach: `localhost`, 127.0.0.0/8, `::1`, with or without brackets, in any case. */
export function isLoopback(host: string): boolean {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (bare === 'localhost' || bare === '::1') return true;
  return isIP(bare) === 4 && bare.startsWith('127.');
}

/** True for https, and for http to a host that only this machine can reach. Other machines could read what plain http sends. */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/**
 * Returns the origin as a browser sends it: `https://portal.example.com`, without a default port. Undefined if the text is not an origin,
 * or has something in addition, such as a path.
 */
export function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const more = url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '';
  return more ? undefined : url.origin;
}

/**
 * Returns the host of a `Host` header, without its port: `[::1]:4000` → `::1`. Undefined if the header is malformed or no URL can have
 * this host.
 */
export function parseHostHeader(header: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(header);
  return URL.canParse(`http://${header}`) ? (match?.[1] ?? match?.[2]) : undefined;
}
