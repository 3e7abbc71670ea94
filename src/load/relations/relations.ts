import type { GroupKind } from '../../core/kinds.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import type { PromiseOrValue } from '../../core/scheduling/promise-or-value.ts';
import type { Model } from '../../model/model.ts';
import type { RelatedCondition } from '../../store/filter/matching.ts';
import type { CompiledOrder } from '../../store/query/order.ts';
import type { FoundObject, ListPage, Row } from '../reads/reads.ts';

/** An object that another one names, in the same cluster. */
export interface ReferenceTarget {
  readonly kind: GroupKind;
  /** Where it is if its kind lives in namespaces; else it does not count. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** Only the object of this uid, and no other of its name. */
  readonly uid?: string | undefined;
}

/** Which objects of the same cluster have to do with an object. */
export interface RelationQuery {
  /** What cursors are bound to beside the object and the kinds. */
  readonly name: string;
  /** `get` where the object names them, `list` where they are found by what they say themselves. */
  readonly verb: 'get' | 'list';
  /** Absent: every kind that the cluster serves and the caller may list. */
  readonly kinds?: readonly GroupKind[] | undefined;
  /** All of them are in it. Absent: anywhere. */
  readonly namespace?: string | undefined;
  /** By default that of lists. */
  readonly order?: CompiledOrder;
  readonly related: RelatedCondition | RelatedThrough;
}

/** Which objects they are is known from others, which are read first: to be listed, in the same namespace. */
interface RelatedThrough {
  readonly kind: GroupKind;
  readonly related: RelatedCondition;
  readonly then: (between: readonly KubernetesObject[]) => RelatedCondition;
}

/** The page that is asked for. */
export interface RelationPage {
  /** Absent or null: 20. */
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  /** As in `ListArguments`. */
  readonly aggregated?: readonly string[] | undefined;
}

/** Most relations inside each other. */
export const maxRelationDepth = 5;

/**
 * What objects have to do with each other, for one operation. A relation never leaves its cluster.
 *
 * Answers at once where the mirror of the other kind has settled and what the caller may see of it is known; else it waits, for first lists only: at most
 * 10 s for one or what the row says, 15 s in all. Mirrors start on first use and are held until the operation is over. The messages of a stream wait for
 * 2 s together, because other messages follow them; the stream holds the mirrors until it ends, so that a later message finds them.
 *
 * What the caller may not see reads as absent. Whether the kind may be read at all is decided before any lookup, and is a fault if not; so is a
 * kind that the cluster does not serve, and one without a first list.
 *
 * Both throw {MusterError} `TOO_COSTLY` beyond `maxRelationDepth` relations inside each other.
 */
export interface Relations {
  one(from: Row, asked: { readonly model: Model; readonly target: ReferenceTarget }): PromiseOrValue<FoundObject>;
  /** @throws {MusterError} `BAD_INPUT` for a page that cannot be served. */
  many(
    from: Row,
    asked: { readonly model: Model; readonly question: RelationQuery; readonly page: RelationPage },
  ): PromiseOrValue<ListPage>;
}
