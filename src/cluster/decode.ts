import type { Fault } from '../core/faults.ts';
import type { ServedResource } from '../core/kinds.ts';
import type { ClusterName, ResourceVersion } from '../core/names.ts';
import type { KubernetesObject } from '../core/objects.ts';

/** Parses the same bytes again, keeping integers beyond 2⁵³−1 as `RawNumber`. Five times slower than the first time. */
export type ExactParse = () => KubernetesObject;

/** One line of a watch. `managedFields` have been cut from the top-level metadata, and nowhere else. */
export type DecodedEvent =
  | {
      readonly type: 'applied';
      readonly wireType: 'ADDED' | 'MODIFIED';
      readonly object: KubernetesObject;
      readonly version: ResourceVersion;
      readonly exactly: ExactParse;
    }
  | { readonly type: 'deleted'; readonly object: KubernetesObject; readonly version: ResourceVersion; readonly exactly: ExactParse }
  /** `version` is absent if the server sent none. */
  | { readonly type: 'bookmark'; readonly version?: ResourceVersion; readonly initialEventsEnd: boolean }
  /** An ERROR event; or a Table or List where an object should be: `MALFORMED`, and what is held is still right (mirror.md 3.1, row 18). */
  | { readonly type: 'error'; readonly fault: Fault }
  /** Not understood, so perhaps an event lost (row 17). */
  | { readonly type: 'unreadable'; readonly reason: string };

/** Whose events these are. */
export interface DecodeContext {
  readonly cluster: ClusterName;
  readonly resource: ServedResource;
}

export type DecodedItem =
  | { readonly type: 'item'; readonly object: KubernetesObject; readonly exactly: ExactParse }
  | { readonly type: 'unreadable'; readonly reason: string };
