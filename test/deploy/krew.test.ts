import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { krewManifest } from '../../scripts/krew.ts';

const sha256 = 'a'.repeat(64);

test('the krew manifest names an archive for each platform, with its checksum', () => {
  const manifest = parse(
    krewManifest({
      version: '1.2.3',
      homepage: 'https://example.com',
      baseUrl: 'https://example.com/releases',
      archives: [
        { platform: 'linux/amd64', file: 'muster-v1.2.3-linux-amd64.tar.gz', sha256 },
        { platform: 'darwin/arm64', file: 'muster-v1.2.3-darwin-arm64.tar.gz', sha256 },
      ],
    }),
  );
  expect(manifest).toMatchObject({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'muster' },
  });
  expect(manifest.spec.version).toBe('v1.2.3');
  // krew refuses a longer one.
  expect(manifest.spec.shortDescription.length).toBeLessThanOrEqual(50);
  expect(manifest.spec.platforms).toEqual(
    [
      ['linux', 'amd64'],
      ['darwin', 'arm64'],
    ].map(([os, arch]) => ({
      selector: { matchLabels: { os, arch } },
      uri: `https://example.com/releases/muster-v1.2.3-${os}-${arch}.tar.gz`,
      sha256,
      bin: 'kubectl-muster',
      files: [{ from: '*', to: '.' }],
    })),
  );
});
