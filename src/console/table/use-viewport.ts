import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** The visible part of a scrolled element, in pixels. */
export interface Viewport {
  readonly scrollTop: number;
  readonly height: number;
}

/** Follows the scroll position and the height of an element. */
export function useViewport(frame: RefObject<HTMLElement | null>): Viewport {
  const [viewport, setViewport] = useState<Viewport>({ scrollTop: 0, height: 1_000 });
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return undefined;
    const measure = () => setViewport((before) => next(before, current));
    const resized = new ResizeObserver(measure);
    resized.observe(current);
    current.addEventListener('scroll', measure, { passive: true });
    return () => {
      resized.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, []);
  return viewport;
}

/** Returns the same object if nothing changed, so that nothing is drawn again. */
function next(before: Viewport, { scrollTop, clientHeight }: HTMLElement): Viewport {
  return before.scrollTop === scrollTop && before.height === clientHeight ? before : { scrollTop, height: clientHeight };
}
