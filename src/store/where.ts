import type { Json } from '../core/json.ts';
import type { KubernetesObject } from '../core/objects.ts';
import type { ModelKind } from '../model/model.ts';
import type { QuerySource } from './query-source.ts';

/** The recursive filter of schema.md 2.2, as it comes from GraphQL. All that one level says must hold; `null` is as good as not said. */
export interface WhereInput {
  readonly path?: string | null | undefined;
  readonly eq?: Json | undefined;
  readonly ne?: Json | undefined;
  readonly in?: readonly Json[] | null | undefined;
  readonly lt?: Json | undefined;
  readonly lte?: Json | undefined;
  readonly gt?: Json | undefined;
  readonly gte?: Json | undefined;
  readonly contains?: string | null | undefined;
  readonly startsWith?: string | null | undefined;
  readonly exists?: boolean | null | undefined;
  readonly some?: WhereInput | null | undefined;
  readonly and?: readonly WhereInput[] | null | undefined;
  readonly or?: readonly WhereInput[] | null | undefined;
  readonly not?: WhereInput | null | undefined;
}

/** True if the object, which lies in that source, is asked for. */
export type Predicate = (object: KubernetesObject, source: QuerySource) => boolean;

/** A filter checked against the model: made by `compileWhere`. */
export interface Where {
  /** For objects of one of the kinds it was compiled for. */
  predicateFor(kind: ModelKind): Predicate;
}
