import { type AnsweredKey, answeredKeyFields } from '../../core/columns/object-names.ts';

interface ShownObjectPlan {
  readonly key: AnsweredKey;
  readonly action: string;
}

/** The planned objects of one application. */
export interface ShownAppObjects {
  readonly key: AnsweredKey;
  readonly propagation: { readonly namespace: string; readonly name: string } | null;
  readonly target: readonly ShownObjectPlan[];
  readonly source: readonly ShownObjectPlan[];
}

/** The GraphQL selection that gives `ShownAppObjects`. `manifests`: also their manifests, for programs. */
export function plannedObjectsFields(of: 'summary' | 'manifests'): string {
  const object = `{ key { ${answeredKeyFields} } action ${of === 'manifests' ? 'manifest' : ''} }`;
  return `propagation { namespace name } target ${object} source ${object}`;
}

/**
 * Returns a line with the objects of an application, in three lists: moved to the target, copied to the target, and already in the target.
 * Returns no line if the plan has no objects besides the workload.
 */
export function plannedObjectLines(app: string, { key, propagation, target, source }: ShownAppObjects): readonly string[] {
  if (propagation !== null) return [`${app}: the placement of Propagation ${propagation.namespace}/${propagation.name} changes`];
  const workload = objectName(key);
  const namesOf = (objects: readonly ShownObjectPlan[], action: string) =>
    objects.filter((object) => object.action === action).map((object) => objectName(object.key));
  const deleted = namesOf(source, 'DELETE');
  const parts = [
    listText(
      'moves',
      deleted.filter((name) => name !== workload),
    ),
    listText(
      'copies',
      namesOf(target, 'CREATE').filter((name) => !deleted.includes(name)),
    ),
    listText('uses', namesOf(target, 'UNCHANGED')),
  ].filter((part) => part !== '');
  return parts.length === 0 ? [] : [`${app}: ${parts.join('; ')}`];
}

function listText(verb: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `${verb} ${names.join(', ')}`;
}

function objectName({ kind, name }: AnsweredKey): string {
  return `${kind.toLowerCase()}/${name}`;
}
