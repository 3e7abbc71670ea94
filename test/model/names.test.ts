import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareApiVersions } from '../../src/core/api-versions.ts';
import { deprecationReasonOf, firstSentence } from '../../src/model/descriptions.ts';
import { fieldNamesOf, legalName, uncapitalised } from '../../src/model/graphql-names.ts';
import { builtInTypeName, fullGroupPrefix, groupPrefix, rootFieldNames } from '../../src/model/kind-names.ts';

describe('root fields', () => {
  test.each([
    ['', 'Pod', 'pods', 'pods', 'pod'],
    ['', 'NetworkPolicy', 'networkpolicies', 'networkPolicies', 'networkPolicy'],
    ['', 'CSIDriver', 'csidrivers', 'csiDrivers', 'csiDriver'],
    ['', 'CSIStorageCapacity', 'csistoragecapacities', 'csiStorageCapacities', 'csiStorageCapacity'],
    ['', 'ServiceCIDR', 'servicecidrs', 'serviceCIDRs', 'serviceCIDR'],
    ['', 'IPAddress', 'ipaddresses', 'ipAddresses', 'ipAddress'],
    ['', 'Endpoints', 'endpoints', 'endpoints', 'endpointsByName'],
    ['Example', 'Widget', 'widgets', 'exampleWidgets', 'exampleWidget'],
    ['ClusterctlClusterX', 'Metadata', 'metadata', 'clusterctlClusterXMetadata', 'clusterctlClusterXMetadataByName'],
    ['X', 'HTTPRoute', 'httproutes', 'xHTTPRoutes', 'xHTTPRoute'],
    ['Example', 'Person', 'people', 'examplePeople', 'examplePerson'],
    ['Example', 'my-kind', 'my-kinds', 'exampleMy_kinds', 'exampleMy_kind'],
    ['_3scale', 'Tenant', 'tenants', '_3scaleTenants', '_3scaleTenant'],
  ])('%s %s (%s) are %s and %s', (prefix, kind, plural, many, one) => {
    expect(rootFieldNames({ prefix, kind, plural })).toEqual({ many, one });
  });
});

describe('prefixes of groups', () => {
  test.each([
    ['cert-manager.io', 'CertManager', 'CertManagerIo'],
    ['cluster.x-k8s.io', 'ClusterX', 'ClusterXK8sIo'],
    ['metrics.k8s.io', 'Metrics', 'MetricsK8sIo'],
    ['postgresql.cnpg.io', 'PostgresqlCnpg', 'PostgresqlCnpgIo'],
    ['example.com', 'Example', 'ExampleCom'],
    ['3scale.net', '_3scale', '_3scaleNet'],
    ['apps', 'Apps', 'Apps'],
    ['', 'Core', 'CoreV1'],
  ])('%s: %s, or %s', (group, prefix, full) => {
    expect(groupPrefix(group)).toBe(prefix);
    expect(fullGroupPrefix(group)).toBe(full);
  });
});

describe('names of fields', () => {
  test('are their keys, except for keys that GraphQL or JavaScript cannot have', () => {
    expect(fieldNamesOf(['a', 'foo-bar', '$ref', '1st', '__typename', 'größe', '', 'toString', '__proto__'])).toEqual([
      ...['a', 'foo_bar', '_ref', '_1st', '_typename', 'gr__e', '_', 'toString_', '_proto__'],
    ]);
  });

  test('that are legal stay as they are, in any order', () => {
    expect(fieldNamesOf(['$ref', '_ref', 'foo.bar', 'foo-bar', 'foo_bar'])).toEqual(['_ref_', '_ref', 'foo_bar_', 'foo_bar__', 'foo_bar']);
  });

  test('that an interface has get a trailing _', () => {
    expect(fieldNamesOf(['cluster', 'spec'], new Set(['cluster']))).toEqual(['cluster_', 'spec']);
  });

  test('P4: are legal, different, and lead back to their keys', () => {
    const key = fc.oneof(
      fc.string(),
      fc.constantFrom('foo-bar', 'foo_bar', 'foo_bar_', 'valueOf', 'valueOf_', '__proto__', '_proto__', '1', '_1'),
    );
    fc.assert(
      fc.property(fc.uniqueArray(key), (keys) => {
        const names = fieldNamesOf(keys, new Set(['id']));
        expect(names.every((name) => /^(?!__)[A-Za-z_]\w*$/.test(name) && name !== 'id' && !(name in {}))).toBe(true);
        expect(new Set(names).size).toBe(keys.length);
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  ['Pod', 'pod'],
  ['CSIDriver', 'csiDriver'],
  ['ID', 'id'],
  ['APIService', 'apiService'],
  ['already', 'already'],
])('%s begins small as %s', (text, small) => {
  expect(uncapitalised(text)).toBe(small);
});

test('a name made legal is legal', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(legalName(text)).toMatch(/^(?!__)[A-Za-z_]\w*$/);
    }),
  );
});

test.each([
  ['io.k8s.api.core.v1.Pod', 'Pod'],
  ['io.k8s.api.core.v1.ResourceClaim', 'ContainerResourceClaim'],
  ['io.k8s.api.resource.v1.ResourceClaim', 'ResourceClaim'],
  ['io.k8s.api.admissionregistration.v1.Mutation', 'AdmissionMutation'],
])('the definition %s is the type %s', (definition, type) => {
  expect(builtInTypeName(definition)).toBe(type);
});

test('versions are ordered as in Kubernetes', () => {
  const versions = ['v1alpha1', 'v1', 'foo', 'v10', 'v2beta1', 'v2', 'v1beta2', 'v11alpha2', 'bar', 'v1beta10'];
  expect(versions.sort(compareApiVersions)).toEqual([
    'v10',
    'v2',
    'v1',
    'v2beta1',
    'v1beta10',
    'v1beta2',
    'v11alpha2',
    'v1alpha1',
    'bar',
    'foo',
  ]);
});

test.each<[unknown, string | undefined]>([
  ['One is. Two are.', 'One is.'],
  ['As of v1.2 the name, e.g. Foo, counts. Not so before.', 'As of v1.2 the name, e.g. Foo, counts.'],
  ['On two\nlines. Then more', 'On two lines.'],
  ['A paragraph\n\nand another', 'A paragraph'],
  ['no end', 'no end'],
  ['Is it? Yes.', 'Is it?'],
  ['   ', undefined],
  ['Required. The effect of the taint. It is one of three.', 'Required. The effect of the taint.'],
  ['Required.', 'Required.'],
  [3, undefined],
])('the first sentence of %j is %j', (text, sentence) => {
  expect(firstSentence(text)).toBe(sentence);
});

test('a sentence without end is cut', () => {
  expect(firstSentence('x'.repeat(1_000))).toHaveLength(400);
});

test.each<[string, string | undefined]>([
  ['Deprecated: use b. It is better.', 'use b.'],
  ['Deprecated. Not all have it.', 'Not all have it.'],
  ['Deprecated', 'Deprecated.'],
  ['deprecated says whether it is', undefined],
  ['DeprecatedThing is an alias', undefined],
  ['A thing. Deprecated: no.', undefined],
])('%j is deprecated: %j', (text, reason) => {
  expect(deprecationReasonOf(text)).toBe(reason);
});
