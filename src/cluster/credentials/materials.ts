import { readFile } from 'node:fs/promises';
import type { Clock } from '../../core/clock.ts';
import { clusterFailure } from '../cluster-failure.ts';
import type { PemMaterial } from '../endpoint.ts';
import { ClusterFailureError } from '../transport/connection-errors.ts';

/** Milliseconds after which files are read again, because kubelets and operators rotate tokens and certificates in place. */
export const rereadMs = 60_000;

/** Reads the current content of a file, or of a field in the kubeconfig. */
export interface MaterialReader {
  /**
   * Returns the content. A file is read at most once per 60 s. If it can no longer be read, the old content stays.
   *
   * @throws {ClusterFailureError} `UNAUTHENTICATED` if the file has never been readable.
   */
  read(): Promise<Uint8Array>;
  /** Makes the next `read` read the file again. */
  expire(): void;
}

/**
 * Creates the reader of one certificate, key or token. It reads no file before the first `read`.
 *
 * @param what The name of the content in messages, such as `the client certificate`. Messages have the path and never the content.
 */
export function createMaterialReader(material: PemMaterial, what: string, clock: Clock): MaterialReader {
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
        if (held === undefined) throw new ClusterFailureError(clusterFailure('UNAUTHENTICATED', `${what} cannot be read from ${path}`));
      }
      freshUntilMs = clock.monotonic() + rereadMs;
      return held;
    },
    expire() {
      freshUntilMs = Number.NEGATIVE_INFINITY;
    },
  };
}
