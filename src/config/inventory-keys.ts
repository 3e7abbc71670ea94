import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { MusterError } from '../core/errors.ts';
import { checkedSchema, type ReportProblem, typeError } from '../core/json/documents.ts';
import { parseLabelSelector } from '../core/selectors.ts';
import type { ConfiguredInventory } from './config.ts';
import { configList, configText, demandUniqueNames, mapping, oneOf, textLike } from './config-values.ts';
import { defaultSystemNamespace, inventoryTypes, secretsModes } from './defaults.ts';

// The keys about clusters that are registered or found while the gateway runs.

const namespaceName = textLike('the name of a namespace', { max: 63, pattern: /[a-z0-9](?:[-a-z0-9]*[a-z0-9])?/ });

const providerKeys = {
  name: configText.describe('The name of the provider in the ClusterProfiles.'),
  command: checkedSchema(configText, checkCommand).describe('The absolute path of the program that prints the credentials.'),
  args: configList(configText).exactOptional().describe('The arguments of the program. Nothing of a ClusterProfile is added to them.'),
  env: z
    .record(z.string(), z.string(), typeError('a mapping of texts'))
    .readonly()
    .exactOptional()
    .describe('The environment of the program, besides PATH, HOME and KUBERNETES_EXEC_INFO.'),
};

const inventoryKeys = {
  type: oneOf(inventoryTypes).describe('The system whose clusters become members of the fleet.'),
  cluster: configText
    .exactOptional()
    .describe('The cluster that holds the inventory: one of `clusters`, else a context of the kubeconfig. Default: the hub.'),
  namespaces: configList(namespaceName, { min: 1 })
    .exactOptional()
    .describe(
      'Namespaces to look in. Default: istio-system for Istio, argocd for ArgoCD, else all. MulticlusterRuntime needs them with `authentication`.',
    ),
  labels: checkedSchema(configText, checkSelector)
    .exactOptional()
    .describe('Only objects that this label selector selects, such as `tier in (prod)`. Default: all.'),
  nameAs: textLike('a text with {name}, such as {namespace}-{name}', { pattern: /.*\{name\}.*/ })
    .exactOptional()
    .describe('How clusters are named: a text with {name}, and possibly {namespace}. Default: {name}.'),
  secrets: oneOf(secretsModes).exactOptional().describe('Access to the Secrets of the clusters that are found; none by default.'),
  serviceAccount: configText
    .exactOptional()
    .describe('OpenClusterManagement: the ManagedServiceAccount whose token is used; muster by default.'),
  consumer: configText.exactOptional().describe('ClusterProfile: the consumer whose Secrets are used; muster by default.'),
  providers: configList(mapping(providerKeys))
    .exactOptional()
    .describe('ClusterProfile: programs that may be run for credentials. A ClusterProfile names one of them. Default: none is run.'),
};

const network = z.union([z.cidrv4(), z.cidrv6()], typeError('a network such as 10.0.0.0/8 or fd00::/8'));

/** The keys of the config file about clusters that are registered or found while the gateway runs. */
export const foundClusterKeys = {
  allowPrivate: configList(network)
    .exactOptional()
    .describe(
      'Networks, such as 127.0.0.1/32, in which registered and found clusters may be although they are loopback, link-local or unique local.',
    ),
  systemNamespace: namespaceName
    .exactOptional()
    .describe(
      `The namespace of the hub with the Secrets of registered clusters, and with the Lease. Default: in a Pod its own, else ${defaultSystemNamespace}.`,
    ),
  inventories: configList(mapping(inventoryKeys))
    .exactOptional()
    .describe('Systems whose clusters become members of the fleet while they are listed there.'),
};

type FoundClusterKeys = { readonly [Key in keyof typeof foundClusterKeys]?: z.output<(typeof foundClusterKeys)[Key]> };

interface InventorySurroundings {
  readonly clusters: readonly string[];
  readonly hub: string | undefined;
  /** True if several users share the gateway. */
  readonly hasAuthentication: boolean;
}

/** Checks the keys against the rest of the config. Throws `BAD_INPUT` with one line if they do not fit together. */
export function demandConsistentInventories(
  { inventories = [] }: FoundClusterKeys,
  { clusters, hub, hasAuthentication }: InventorySurroundings,
): void {
  for (const [at, { type, cluster, namespaces, consumer, serviceAccount, providers }] of inventories.entries()) {
    const refuse = (key: string, message: string): never => {
      throw new MusterError('BAD_INPUT', `inventories[${at}]${key}: ${message}`);
    };
    if (cluster === undefined && hub === undefined) refuse('', 'expected `cluster`, or a hub that holds the inventory');
    if (cluster !== undefined && clusters.length > 0 && !clusters.includes(cluster))
      refuse('.cluster', `expected one of clusters: ${clusters.slice(0, 10).join(', ')}`);
    // The role `edit` of one namespace is enough to create such a Secret.
    if (type === 'MulticlusterRuntime' && hasAuthentication && namespaces === undefined)
      refuse('.namespaces', 'expected namespaces with `authentication`, because each author of a Secret there adds clusters to the fleet');
    if (type !== 'ClusterProfile' && consumer !== undefined) refuse('.consumer', 'expected only with type ClusterProfile');
    if (type !== 'ClusterProfile' && providers !== undefined) refuse('.providers', 'expected only with type ClusterProfile');
    demandUniqueNames(`inventories[${at}].providers`, providers ?? []);
    if (type !== 'OpenClusterManagement' && serviceAccount !== undefined)
      refuse('.serviceAccount', 'expected only with type OpenClusterManagement');
  }
}

/** Returns the inventories with their defaults. */
export function inventoriesOf({ inventories = [] }: FoundClusterKeys): readonly ConfiguredInventory[] {
  return inventories.map(
    ({ nameAs = '{name}', secrets = 'none', serviceAccount = 'muster', consumer = 'muster', providers = [], ...rest }) => ({
      ...rest,
      ...{ nameAs, secrets, serviceAccount, consumer },
      providers: providers.map(({ args = [], env = {}, ...provider }) => ({ ...provider, args, env })),
    }),
  );
}

/** The file with the namespace of the gateway's Pod. */
const podNamespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** Returns the configured namespace, else that of the gateway's Pod, else the default. */
export async function systemNamespaceOf({ systemNamespace }: FoundClusterKeys): Promise<string> {
  if (systemNamespace !== undefined) return systemNamespace;
  const ofPod = await readFile(podNamespaceFile, 'utf8').catch(() => '');
  return ofPod.trim() || defaultSystemNamespace;
}

function checkCommand(given: string, report: ReportProblem): void {
  if (!path.isAbsolute(given)) report('expected an absolute path');
}

function checkSelector(given: string, report: ReportProblem): void {
  try {
    parseLabelSelector(given);
  } catch (error) {
    report(error instanceof Error ? error.message : 'expected a label selector');
  }
}
