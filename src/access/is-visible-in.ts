import type { Visibility } from './access.ts';

/**
 * True if objects of this namespace are visible. Undefined means an object without a namespace, which is hidden from callers who may see some
 * namespaces only.
 */
export function isVisibleIn(visibility: Visibility, namespace: string | undefined): boolean {
  switch (visibility.type) {
    case 'all':
      return true;
    case 'namespaces':
      return namespace !== undefined && visibility.namespaces.has(namespace);
    case 'none':
      return false;
    default:
      return visibility satisfies never;
  }
}
