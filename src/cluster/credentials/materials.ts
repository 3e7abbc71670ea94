import { readFile } from 'node:fs/promises';
import type { Clock } from '../../core/clock.ts';
import { breakage } from '../classify.ts';
import type { Material } from '../endpoint.ts';
import { BreakageError } from '../transport/connection-errors.ts';

/** Files are read again after this long: that is how kubelets and operators rotate tokens and certificates. */
export const rereadMs = 60_000;

/** What a file, or a kubeconfig, holds now. */
export interface MaterialReader {
  /**
   * Read at most once per 60 s; a failed read keeps the old content.
   *
   * @throws {BreakageError} `UNAUTHENTICATED` if it could never be read.
   */
  read(): Promise<Uint8Array>;
  /** The next `read` reads anew. */
  expire(): void;
}

/** @param what For messages: `the client certificate`. A path stands in them, a content never. */
export function createMaterialReader(material: Material, what: string, clock: Clock): MaterialReader {
  if (material.type === 'data') return { read: () => Promise.resolve(material.data), expire: () => undefined };
  const { path } = material;
  let held: Uint8Array | undefined;
  let freshUntilMs = Number.NEGATIVE_INFINITY;
  return {
    async read() {
      if (held !== undefined && clock.monotonic() < freshUntilMs) return held;
      try {
        held = await readFile(path);
      } catch {
        if (held === undefined) throw new BreakageError(breakage('UNAUTHENTICATED', `${what} cannot be read from ${path}`));
      }
      freshUntilMs = clock.monotonic() + rereadMs;
      return held;
    },
    expire() {
      freshUntilMs = Number.NEGATIVE_INFINITY;
    },
  };
}
