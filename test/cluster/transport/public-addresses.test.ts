import { BlockList } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { createPublicLookup, isForbiddenAddress } from '../../../src/cluster/transport/public-addresses.ts';

const where = 'spec.apiEndpoint';

describe('without exceptions', () => {
  test.each(['127.0.0.1', '127.9.9.9', '0.0.0.0', '169.254.169.254', '::1', '::', 'fe80::1', 'fd00::1', 'fc00::1', '::ffff:169.254.1.1'])(
    '%s is forbidden',
    (address) => expect(isForbiddenAddress(address, { allowPrivate: [], where })).toBe(true),
  );
  test.each([
    ...['::127.0.0.1', '::7f00:1', '64:ff9b::169.254.169.254', '64:ff9b::7f00:1', '64:ff9b:1::a9fe:a9fe', '2002:7f00:1::', '2001:0:1::1'],
    ...['::ffff:0:127.0.0.1', 'fec0::1', '100.100.100.200', '168.63.129.16', '192.0.0.192', '64:ff9b::100.100.100.200', 'fd00:ec2::254'],
  ])('%s is forbidden, because it leads to one', (address) => expect(isForbiddenAddress(address, { allowPrivate: [], where })).toBe(true));
  test.each(['64:ff9b::8.8.8.8', '100.64.0.1', '2001:4860::8888', '2003::1'])('%s is allowed', (address) =>
    expect(isForbiddenAddress(address, { allowPrivate: [], where })).toBe(false),
  );
  test.each(['10.0.0.1', '192.168.1.1', '172.16.0.1', '8.8.8.8', '2001:db8::1', '::ffff:10.0.0.1', 'api.test', 'localhost'])(
    '%s is not',
    (host) => expect(isForbiddenAddress(host, { allowPrivate: [], where })).toBe(false),
  );
});

test('an exception allows its network and nothing else', () => {
  const rule = { allowPrivate: ['127.0.0.1/32', 'fd00::/16'], where };
  expect(
    ['127.0.0.1', '64:ff9b::127.0.0.1', '127.0.0.2', 'fd00::5', 'fd01::5', '::1'].map((address) => isForbiddenAddress(address, rule)),
  ).toEqual([false, false, true, false, true, true]);
});

test('the list of allowed networks is made once for each rule', () => {
  const made = vi.spyOn(BlockList.prototype, 'addSubnet');
  const allowPrivate = ['127.0.0.0/8'];
  for (let count = 0; count < 3; count += 1) isForbiddenAddress('127.0.0.1', { allowPrivate, where });
  expect(made.mock.calls.map(([address]) => address)).toEqual(['127.0.0.0', '64:ff9b::127.0.0.0']);
  made.mockRestore();
});

/** Resolves `localhost` as a socket does. */
function resolved(allowPrivate: readonly string[]): Promise<unknown> {
  return new Promise((resolve) =>
    createPublicLookup({ allowPrivate, where })('localhost', { all: true }, (error, addresses) =>
      resolve(error === null ? addresses : error.message),
    ),
  );
}

test('E8: a name is judged by what it resolves to', async () => {
  expect(await resolved([])).toMatch(/^spec\.apiEndpoint: expected an address outside of loopback/);
  expect(await resolved(['127.0.0.0/8'])).toEqual([{ address: '127.0.0.1', family: 4 }]);
});
