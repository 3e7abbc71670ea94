import type { JsonObject } from '../core/json.ts';
import { capitalised, legalName, legalPart, uncapitalised } from './graphql-names.ts';

/** Short names of definitions that occur twice, or that the schema uses for something else, and what they are called instead. */
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

/** The name of the type of a built-in definition: its last segment, but for the few that collide. Independent of the release and its siblings. */
export function builtInTypeName(definition: string): string {
  return renamedDefinitions.get(definition) ?? legalName(definition.slice(definition.lastIndexOf('.') + 1));
}

/** The type of an object that another kind holds: that of the kind itself has a cluster and an id, which such an object has not. */
export function embeddedTypeName(definition: string): string {
  return `Embedded${builtInTypeName(definition)}`;
}

/** True for the definition of a kind, and not of a part of one. */
export function isKindDefinition(schema: JsonObject): boolean {
  return Array.isArray(schema['x-kubernetes-group-version-kind']);
}

/** `cert-manager.io` → `CertManager`, `cluster.x-k8s.io` → `ClusterX`, `metrics.k8s.io` → `Metrics`, `apps` → `Apps`, `''` → `Core`. */
export function groupPrefix(group: string): string {
  if (group === '') return 'Core';
  const short = /^(.+)[.-]k8s\.io$/.exec(group) ?? /^(.+)\.[^.]*$/.exec(group);
  return prefixOf(short?.[1] ?? group);
}

/** The whole group as a prefix, for the later of two groups whose prefixes are equal: `example.com` → `ExampleCom`. */
export function fullGroupPrefix(group: string): string {
  return group === '' ? 'CoreV1' : prefixOf(group);
}

/** The names of root fields: the list and the single object. */
export interface RootFieldNames {
  readonly many: string;
  readonly one: string;
}

/**
 * The root fields of a kind, its capitals recovered by aligning kind and plural: `NetworkPolicy`, `networkpolicies` → `networkPolicies` and
 * `networkPolicy`. Where plural and singular are equal the single field is `endpointsByName`.
 *
 * @param prefix What stands before the kind in the name of its type: empty for built-in kinds.
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

/** The plural with the capitals of the kind as far as the two agree. */
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
