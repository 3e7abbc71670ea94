import { expect, test } from 'vitest';
import { isLoopback, parseHostHeader, parseOrigin } from '../../src/config/host.ts';

test.each([
  ['localhost', true],
  ['LOCALHOST', true],
  ['127.0.0.1', true],
  ['127.8.9.1', true],
  ['::1', true],
  ['[::1]', true],
  ['0.0.0.0', false],
  ['127.0.0.1.example.com', false],
  ['localhost.example.com', false],
  ['::', false],
  ['10.0.0.1', false],
])('%s is loopback: %s', (host, loopback) => {
  expect(isLoopback(host)).toBe(loopback);
});

test.each([
  ['127.0.0.1:4000', '127.0.0.1'],
  ['localhost', 'localhost'],
  ['[::1]:4000', '::1'],
  ['muster.example.com', 'muster.example.com'],
  ['user@localhost', undefined],
  ['localhost:80:80', undefined],
  ['localhost:65536', undefined],
  ['256.0.0.1', undefined],
  ['local host', undefined],
  ['', undefined],
])('the host of %s is %s', (header, host) => {
  expect(parseHostHeader(header)).toBe(host);
});

test.each([
  ['https://a.example.com', 'https://a.example.com'],
  ['https://A.example.com:443/', 'https://a.example.com'],
  ['http://localhost:3000', 'http://localhost:3000'],
  ['https://a.example.com/path', undefined],
  ['ftp://a.example.com', undefined],
  ['*', undefined],
  ['null', undefined],
])('%s as an origin is %s', (text, origin) => {
  expect(parseOrigin(text)).toBe(origin);
});
