import type { GroupKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { Model } from '../../model/model.ts';
import type { RelatedCondition } from '../../store/filter/matching.ts';
import type { CompiledOrder } from '../../store/query/order.ts';
import type { FoundObject, ListPage, Row } from '../reads/reads.ts';

/** An object that another object refers to, in the same cluster. */
export interface ReferenceTarget {
  readonly kind: GroupKind;
  /** The namespace of the target. Ignored if the kind of the target is cluster-scoped. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** Only the object with this uid matches, and no other object of the same name. */
  readonly uid?: string | undefined;
}

/** A query for the objects that are related to an object, in the same cluster. */
export interface RelationQuery {
  /** The name of the relation. A cursor is bound to it, and to the object and the kinds. */
  readonly name: string;
  /** `get` if the object names the related objects. `list` if the related objects refer to the object or match its selector. */
  readonly verb: 'get' | 'list';
  /** Default: every kind that the cluster serves and the caller may list. */
  readonly kinds?: readonly GroupKind[] | undefined;
  /** The namespace of all related objects. Default: any namespace. */
  readonly namespace?: string | undefined;
  /** Default: the order of lists. */
  readonly order?: CompiledOrder;
  readonly related: RelatedCondition | RelatedThrough;
}

/**
 * A condition that depends on objects of a third kind (`kind`). The objects of that kind that match `related` are listed first, in the same
 * namespace. `then` makes the condition from them.
 */
interface RelatedThrough {
  readonly kind: GroupKind;
  readonly related: RelatedCondition;
  readonly then: (between: readonly KubernetesObject[]) => RelatedCondition;
}

/** The arguments of the requested page. */
export interface RelationPage {
  /** Maximum number of objects on the page. Undefined and null mean 20. */
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  /** The paths whose aggregates may be requested from the page. Default: the page has no aggregates. */
  readonly aggregated?: readonly string[] | undefined;
}

/** Maximum number of nested relations. */
export const maxRelationDepth = 5;

/**
 * The relations between objects, for one operation. A relation never leaves its cluster.
 *
 * Both methods answer at once if the first list of the related kind is complete or has failed, and the rights of the caller are known.
 * Otherwise they return a promise. It waits for the rights, for clusters that have not answered yet, and for first lists: at most 10 s (or
 * `waitMs` of the row) for one source, and 15 s in total. Mirrors start on first use and are held until the operation ends.
 *
 * All messages of one stream together wait at most 2 s, so a cluster that hangs delays a stream only once. The stream holds its mirrors
 * until it ends, so that later messages find them.
 *
 * Hidden objects look absent. The right to read the kind is checked before any lookup, and its lack is a fault. A kind that the cluster
 * does not serve, and a kind without a first list, are faults too.
 *
 * Both methods throw {MusterError} `TOO_COSTLY` for more than `maxRelationDepth` nested relations.
 */
export interface Relations {
  one(from: Row, request: { readonly model: Model; readonly target: ReferenceTarget }): PromiseOrValue<FoundObject>;
  /**
   * Returns one page of the objects that the query finds.
   *
   * @throws {MusterError} `BAD_INPUT` for wrong arguments of the page.
   */
  many(from: Row, request: { readonly model: Model; readonly query: RelationQuery; readonly page: RelationPage }): PromiseOrValue<ListPage>;
}
