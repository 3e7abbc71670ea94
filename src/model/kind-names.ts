import type { JsonObject } from '../core/json.ts';
import { capitalised, legalName, legalPart, uncapitalised } from './graphql-names.ts';

/** The type names of definitions whose last segment occurs twice, or has another meaning in the schema. */
const renamedDefinitions: ReadonlyMap<string, string> = new Map([
  ['io.k8s.api.admissionregistration.v1.Mutation', 'AdmissionMutation'],
  ['io.k8s.api.admissionregistration.v1.ServiceReference', 'WebhookServiceReference'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference', 'ConversionServiceReference'],
  ['io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference', 'ApiServiceReference'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig', 'ConversionWebhookClientConfig'],
  ['io.k8s.api.core.v1.EndpointPort', 'CoreEndpointPort'],
  ['io.k8s.api.core.v1.ResourceClaim', 'ContainerResourceClaim'],
  ['io.k8s.api.flowcontrol.v1.Subject', 'FlowSchemaSubject'],
]);

/**
 * Returns the name of the type of a built-in definition: its last segment, except for a few that collide. It does not depend on the release or on
 * other definitions.
 */
export function builtInTypeName(definition: string): string {
  return renamedDefinitions.get(definition) ?? legalName(definition.slice(definition.lastIndexOf('.') + 1));
}

/**
 * Returns the type name of an object that another kind contains. It differs from the type of the kind, because such an object has no cluster and
 * no id.
 */
export function embeddedTypeName(definition: string): string {
  return `Embedded${builtInTypeName(definition)}`;
}

/** True for the definition of a kind, and false for the definition of a part of one. */
export function isKindDefinition(schema: JsonObject): boolean {
  return Array.isArray(schema['x-kubernetes-group-version-kind']);
}

/**
 * Returns the prefix of a group: `cert-manager.io` → `CertManager`, `cluster.x-k8s.io` → `ClusterX`, `metrics.k8s.io` → `Metrics`, `apps` →
 * `Apps`, `''` → `Core`.
 */
export function groupPrefix(group: string): string {
  if (group === '') return 'Core';
  const short = /^(.+)[.-]k8s\.io$/.exec(group) ?? /^(.+)\.[^.]*$/.exec(group);
  return prefixOf(short?.[1] ?? group);
}

/** Returns the whole group as a prefix, for the later of two groups with equal prefixes: `example.com` → `ExampleCom`. */
export function fullGroupPrefix(group: string): string {
  return group === '' ? 'CoreV1' : prefixOf(group);
}

/** The names of root fields: the list and the single object. */
export interface RootFieldNames {
  readonly many: string;
  readonly one: string;
}

/**
 * Returns the root fields of a kind. The capitals come from the kind: `NetworkPolicy`, `networkpolicies` → `networkPolicies` and
 * `networkPolicy`. If plural and singular are equal, the field for one object gets the suffix `ByName`: `endpointsByName`.
 *
 * @param prefix The prefix of the type name. Empty for built-in kinds.
 */
export function rootFieldNames({
  prefix,
  kind,
  plural,
}: {
  readonly prefix: string;
  readonly kind: string;
  readonly plural: string;
}): RootFieldNames {
  const named = (text: string) => legalName(prefix === '' ? uncapitalised(text) : uncapitalised(prefix) + capitalised(text));
  const one = named(legalPart(kind));
  const many = named(alignedPlural(legalPart(kind), legalPart(plural)));
  return one === many ? { many, one: `${one}ByName` } : { many, one };
}

/** Returns the plural with the capitals of the kind, as far as the two agree. */
function alignedPlural(kind: string, plural: string): string {
  const lower = kind.toLowerCase();
  let common = 0;
  while (common < lower.length && lower[common] === plural[common]) common++;
  return capitalised(kind.slice(0, common) + plural.slice(common));
}

function prefixOf(group: string): string {
  return legalName(
    group
      .split(/[.-]/)
      .map((label) => capitalised(legalPart(label)))
      .join(''),
  );
}
