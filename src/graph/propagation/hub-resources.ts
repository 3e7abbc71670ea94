import { resourceSpelling } from '../../core/json/enum-spelling.ts';
import type { HubListFilter, HubPage } from '../../propagate/model/hub-page.ts';
import type { PropagationPhase } from '../../propagate/model/propagation.ts';
import { propagationPhase } from '../../propagate/model/status-definition.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { ObjectRefOf } from '../builder/pothos.ts';
import { resolveChargedList } from '../context/budget.ts';
import type { DefinedTypes } from './defined-types.ts';

type Arguments = Parameters<Parameters<GraphBuilder['pothos']['queryField']>[1]>[0]['arg'];

/** The kinds of the hub that have queries of their own. */
type HubResourceKind = 'Propagation' | 'Migration';

/** Returns the arguments of a field for one resource of this kind. */
export function nameArguments(arg: Arguments, kind: HubResourceKind) {
  return {
    namespace: arg.string({ required: true, description: `The namespace of the ${kind} on the hub.` }),
    name: arg.string({ required: true, description: `The name of the ${kind}.` }),
  };
}

/** Returns the arguments of a field for all resources of this kind, which `listFilterOf` reads. */
export function listArguments(arg: Arguments, kind: HubResourceKind, defined: DefinedTypes) {
  return {
    namespaces: arg.stringList({ description: `Only ${kind}s in these namespaces of the hub. Default: all namespaces.` }),
    phases: arg({ type: [defined.enum(propagationPhase)], description: `Only ${kind}s in one of these phases. Default: all phases.` }),
    first: arg.int({ defaultValue: 100, description: `The maximum number of ${kind}s on the page: 1 to 500.` }),
    after: arg.string({ description: 'Continue after this cursor. Default: the first page.' }),
  };
}

/** Returns the filter of the arguments, with the phases spelled as on the hub. */
export function listFilterOf<Given extends Omit<HubListFilter, 'phases'> & { readonly phases?: readonly string[] | null | undefined }>({
  phases,
  ...filter
}: Given) {
  return { ...filter, phases: phases?.map((phase) => resourceSpelling(phase) as PropagationPhase) };
}

/** Adds the type of a page of resources of this kind. */
export function addHubPage<View>({ pothos, types: { pageInfo } }: GraphBuilder, kind: HubResourceKind, item: ObjectRefOf<View>) {
  return pothos.objectRef<HubPage<View>>(`${kind}Connection`).implement({
    description: `One page of ${kind}s.`,
    fields: (t) => ({
      items: t.field({
        type: [item],
        nullable: false,
        description: `The ${kind}s of this page, ordered by namespace and name.`,
        resolve: resolveChargedList('items'),
      }),
      pageInfo: t.field({
        type: pageInfo,
        nullable: false,
        description: 'The position of this page in the list, with the cursors to continue.',
        resolve: (page) => page,
      }),
      totalCount: t.exposeInt('totalCount', { nullable: false, description: `The number of matching ${kind}s on all pages.` }),
    }),
  });
}
