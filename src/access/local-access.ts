import type { Access, Visibility } from './access.ts';

const everything: Visibility = { type: 'all' };

/**
 * Creates the access of local mode. The caller is the user who runs the gateway, with the rights of the kubeconfig. Every object of every
 * mirror is visible: mirrors contain only what these rights allow. They report a fault for a kind that the user may not list.
 */
export function createLocalAccess(): Access {
  return { visibilityOf: () => everything, maySeeCluster: () => true, prepare: () => undefined, onChange: () => undefined };
}
