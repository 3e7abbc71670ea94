import type { ServedResource } from '../../core/kinds.ts';
import type { RightQuestion } from './own-rights.ts';

/**
 * Returns the attributes of a review for a question. For a kind without namespaces, the namespace of the question is left out. If the kind is
 * Namespace, its name counts as the namespace too, as in the API server.
 */
export function attributesOf(
  { verb, subresource, namespace, name }: Pick<RightQuestion, 'verb' | 'subresource' | 'namespace' | 'name'>,
  { group, kind, resource, namespaced }: ServedResource,
) {
  const isNamespace = group === '' && kind === 'Namespace';
  const within = namespaced ? namespace : isNamespace ? name : undefined;
  return {
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(within === undefined ? {} : { namespace: within }),
    ...(name === undefined ? {} : { name }),
  };
}
