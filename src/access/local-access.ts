import type { Access, Visibility } from './access.ts';

const everything: Visibility = { type: 'all' };

/**
 * Access in local mode: the caller is whoever runs the gateway, with the rights of its kubeconfig. What those rights do not allow, no mirror
 * holds, and each mirror says so itself.
 */
export function createLocalAccess(): Access {
  return { visibilityOf: () => everything, maySeeCluster: () => true };
}
