import { abandonedOf, printAbandoned } from '../hub/abandoned.ts';
import { marks, type Propagation } from '../propagation.ts';
import type { Pass } from './ports.ts';

/**
 * Takes those out of the annotation of which nothing is left, given up or taken back: it stands there for as long as it means something. Written under the
 * version that was read, so that nobody's words are lost; if somebody else wrote, the next pass does it.
 */
export async function tidyAbandoned({ run, ports, term }: Pass, propagation: Propagation): Promise<void> {
  const { shares } = run;
  const asked = abandonedOf(propagation);
  const open = asked.filter(({ cluster, share }) =>
    [...(shares?.values() ?? [])].some((one) => one.cluster === cluster && one.uid === share),
  );
  if (shares === undefined || open.length === asked.length || !term.isLeading()) return;
  const written = await ports.stores.propagations.tidy(propagation, { [marks.abandon]: printAbandoned(open) }, term.signal);
  if (written.result === 'written') run.latest = written.propagation;
}
