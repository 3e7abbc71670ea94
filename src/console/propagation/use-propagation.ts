import { useEffect, useState } from 'preact/hooks';
import { followStream } from '../gateway/follow-stream.ts';
import type { RequestFailure } from '../gateway/graphql.ts';
import { propagationQuery, type WholePropagation } from './propagation-state.ts';

/** The last known state of a Propagation. */
export interface FollowedState {
  readonly state: WholePropagation | undefined;
  /** Why the Propagation cannot be followed, for example because it was deleted. Undefined while it is followed. */
  readonly failure: RequestFailure | undefined;
}

/** Follows a Propagation. Its last state stays after it is deleted. */
export function usePropagation(namespace: string, name: string): FollowedState {
  const [followed, setFollowed] = useState<FollowedState>({ state: undefined, failure: undefined });
  useEffect(() => {
    const ending = new AbortController();
    void followStream<WholePropagation>(
      {
        query: propagationQuery,
        field: 'propagation',
        // Each attempt begins with the whole state, so there is no cursor.
        variables: () => ({ namespace, name }),
        onMessage: (state) => setFollowed({ state, failure: undefined }),
        onFailure: (failure) => setFollowed(({ state }) => ({ state, failure })),
      },
      ending.signal,
    );
    return () => ending.abort();
  }, [namespace, name]);
  return followed;
}
