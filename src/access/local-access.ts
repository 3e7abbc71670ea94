import type { Access, Visibility } from './access.ts';

const everything: Visibility = { type: 'all' };

/**
 * Creates the access of local mode. The caller is the user who runs the gateway, with the rights of the kubeconfig. Mirrors contain only
 * what these rights allow, and report faults for the rest.
 */
export function createLocalAccess(): Access {
  return { visibilityOf: () => everything, maySeeCluster: () => true };
}
