import { randomUUID } from 'node:crypto';
import type { ObjectAddress, ObjectCallResult, ObjectClient } from '../../changes/object-client.ts';
import type { Clock } from '../../core/clock.ts';
import type { Fault } from '../../core/faults.ts';
import { textAt } from '../../core/json-at.ts';
import { apiVersionOf, type ServedResource } from '../../core/kinds.ts';
import type { CompletedBackup } from './choose-backup.ts';

/** Milliseconds between two reads of a DownloadRequest. Velero answers within about a second. */
const pollMs = 500;

/** The result of waiting for a download URL. */
export type DownloadUrl =
  | { readonly result: 'given'; readonly url: string }
  /** Velero has not set a URL in time. */
  | { readonly result: 'none' }
  | { readonly result: 'failed'; readonly fault: Fault };

export interface DownloadRequestPorts {
  readonly client: ObjectClient;
  /** The resource of DownloadRequests in the cluster of the client. */
  readonly resource: ServedResource;
  readonly clock: Clock;
  /** Maximum milliseconds until Velero must have set the URL. */
  readonly waitMs: number;
}

/**
 * Creates a DownloadRequest for the content of a Backup, waits for its URL, and passes the result to `use`. Deletes the request afterwards,
 * also after a fault or an abort.
 *
 * Reads the request with the identity of the client. A mirror would need rights of the gateway, and would keep the URL, which is a
 * credential.
 */
export async function withDownloadUrl<T>(
  { namespace, name }: CompletedBackup,
  ports: DownloadRequestPorts & { readonly use: (url: DownloadUrl) => Promise<T> },
  signal: AbortSignal,
): Promise<T> {
  const { client, resource } = ports;
  const address = { resource, namespace, name: `muster-${randomUUID()}` };
  const manifest = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name: address.name, namespace },
    spec: { target: { kind: 'BackupContents', name } },
  };
  const created = await client.apply({ ...address, manifest, preconditions: {}, force: false, run: 'real' }, signal);
  try {
    return await ports.use(await urlOf(created, address, ports, signal));
  } finally {
    await deleteRequest(client, address, created);
  }
}

async function urlOf(
  created: ObjectCallResult,
  address: ObjectAddress,
  { client, clock, waitMs }: DownloadRequestPorts,
  signal: AbortSignal,
): Promise<DownloadUrl> {
  const endMs = clock.monotonic() + waitMs;
  let read = created;
  for (;;) {
    if (read.result === 'failed') return read;
    if (read.result === 'absent') return { result: 'none' };
    const url = textAt(read.object, 'status', 'downloadURL');
    if (url !== undefined && url !== '') return { result: 'given', url };
    const leftMs = endMs - clock.monotonic();
    if (leftMs <= 0 || signal.aborted) return { result: 'none' };
    await clock.sleep(Math.min(pollMs, leftMs), signal);
    read = await client.get(address, signal);
  }
}

/** Deletes the request by its uid. After a creation without an answer, the request may exist: its random name makes it ours. */
async function deleteRequest(client: ObjectClient, address: ObjectAddress, created: ObjectCallResult): Promise<void> {
  // The caller may have aborted. Each call of the client ends within 10 s.
  const { signal } = new AbortController();
  const isUnknown = created.result === 'failed' && created.fault.code === 'TIMED_OUT';
  const known = isUnknown ? await client.get(address, signal) : created;
  if (known.result !== 'answered') return;
  await client.delete({ ...address, preconditions: { uid: known.object.metadata.uid }, cascade: 'Background', run: 'real' }, signal);
}
