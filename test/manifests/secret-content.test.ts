import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { withSecretContent } from '../../src/manifests/secret-content.ts';

const account = { 'kubernetes.io/service-account.name': 'web' };
const bound = { ...account, 'kubernetes.io/service-account.uid': 'u' };
const token = { type: 'kubernetes.io/service-account-token' };
const data = { token: 'dA==' };

test.each<readonly [string, JsonObject, JsonObject, JsonObject]>([
  ['the data and the type of a Secret', {}, { type: 'Opaque', data }, { type: 'Opaque', data }],
  ['no type if the manifest has one', { type: 'example.com/a' }, { type: 'Opaque', data }, { type: 'example.com/a', data }],
  [
    'no token, and no uid of a ServiceAccount',
    { metadata: { annotations: bound } },
    { ...token, data },
    { ...token, metadata: { annotations: account } },
  ],
  ['no token under another type', { type: 'Opaque' }, { ...token, data }, { type: 'Opaque' }],
  ['no token if only the manifest has the type', { ...token }, { data }, { ...token }],
])('a copy gets %s', (_title, manifest, secret, expected) => {
  expect(withSecretContent(manifest, secret)).toEqual(expected);
});
