import { path } from '../browser/location.ts';
import { Heading } from '../parts/heading.tsx';

/** Shown for a path that is no page of the console. */
export function UnknownPage() {
  return (
    <>
      <Heading title="Not found" />
      <p>
        <code>{path.value}</code> is no page. The <a href="/">fleet</a> is a good start.
      </p>
    </>
  );
}
