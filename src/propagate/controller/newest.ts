import { compareVersions } from '../../store/versions.ts';
import type { Propagation } from '../propagation.ts';

/** The newer of what the mirror holds and what was read or written last: the mirror is behind our own writes for a moment. */
export function newestOf(mirrored: Propagation, known: Propagation | undefined): Propagation {
  if (known === undefined || known.metadata.uid !== mirrored.metadata.uid) return mirrored;
  const order = compareVersions(mirrored.metadata.version, known.metadata.version);
  return order !== undefined && order < 0 ? known : mirrored;
}
