import type { MemberCluster } from '../../../../src/changes/members.ts';
import type { Json } from '../../../../src/core/json.ts';
import { valueAt } from '../../../../src/core/json-at.ts';
import { clusterName } from '../../../../src/core/names.ts';
import type { Manifest } from '../../../../src/manifests/manifest.ts';
import type { Override } from '../../../../src/propagate/model/spec.ts';
import { applyOverrides, type OverrideResult } from '../../../../src/propagate/plan/overrides/apply-overrides.ts';
import { deepFreeze } from '../../../support/store/store-objects.ts';

/** A SHA-256 digest for image references. */
export const digest = `sha256:${'a'.repeat(64)}`;

/** The cluster to which the overrides apply. */
export const cluster: MemberCluster = {
  name: clusterName('north'),
  labels: { tier: 'edge' },
  zones: [],
  taints: [],
  phase: 'SYNCED',
  faults: [],
};

/** Three containers: `init`; `web` with a complete image reference; `side` with a digest and no tag. */
export const podSpec = {
  initContainers: [{ name: 'init', image: 'docker.io/library/busybox:1.36' }],
  containers: [
    {
      name: 'web',
      image: 'docker.io/library/nginx:1.25',
      command: ['nginx'],
      args: ['-g', 'daemon off;', '-g'],
      env: [{ name: 'A', value: '1' }],
    },
    { name: 'side', image: `quay.io/acme/side@${digest}` },
  ],
};

/** A workload with these containers. */
export const deployment: Manifest = deepFreeze({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' }, annotations: { 'example.com/team': 'a' } },
  spec: { replicas: 2, template: { metadata: { labels: { app: 'web' } }, spec: podSpec } },
});

/** A ConfigMap with YAML and JSON documents as texts. */
export const configMap: Manifest = deepFreeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web' },
  data: { 'app.yaml': 'b: 1 # why\na:\n- x\n', 'app.json': '{"z":1,"big":9007199254740993}', plain: ': not : yaml', n: 'y: "yes"\n' },
});

/** An override without items. */
export const none: Override = {
  set: {},
  objects: {},
  image: [],
  command: [],
  args: [],
  env: [],
  labels: [],
  annotations: [],
  fields: [],
  jsonPatch: [],
};

/** Applies overrides for `cluster`. Omitted fields of an override have no items. */
export function overridden(object: Manifest, ...overrides: readonly Partial<Override>[]): OverrideResult {
  return applyOverrides({ object, overrides: deepFreeze(overrides.map((one) => ({ ...none, ...one }))), cluster });
}

/**
 * Returns the resulting object.
 *
 * @throws {Error} if an override failed.
 */
export function objectOf(outcome: OverrideResult): Manifest {
  if (outcome.result === 'failed') throw new Error(`${outcome.path}: ${outcome.message}`);
  return outcome.object;
}

/** Returns the code and the path of each note. */
export function notesOf(outcome: OverrideResult): readonly (readonly [string, string | undefined])[] {
  return outcome.result === 'failed' ? [] : outcome.notes.map(({ code, path }) => [code, path]);
}

/** Returns the images of a Deployment, with init containers first. */
export const imagesOf = (object: Manifest): readonly (Json | undefined)[] => {
  const spec = valueAt(object, 'spec', 'template', 'spec');
  return [valueAt(spec, 'initContainers'), valueAt(spec, 'containers')].flatMap((list) =>
    (list as readonly Json[]).map((one) => valueAt(one, 'image')),
  );
};
