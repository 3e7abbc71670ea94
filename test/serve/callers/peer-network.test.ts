import { expect, test } from 'vitest';
import { networkOf } from '../../../src/serve/callers/peer-network.ts';

test.each<[string | undefined, string]>([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:0:42:1:2:3:4', '2001:db8:0:42::/64'],
  ['2001:db8:0:42::9', '2001:db8:0:42::/64'],
  ['2001:0db8::9', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['2001:db8:1::', '2001:db8:1:0::/64'],
  [undefined, ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
