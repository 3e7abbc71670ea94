import type { Fault } from '../../core/faults.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { Log } from '../../core/log.ts';
import type { MigrationStore } from '../hub/migration-store.ts';
import type { Migration } from '../model/migration.ts';
import { type MigratedApp, type MigrationStatus, printMigrationStatus } from '../model/migration-status-definition.ts';
import { summarized } from './app-state.ts';
import type { ValidMigration } from './step-ports.ts';

/** A change of a status. Returns undefined if it does not apply any more. */
type StatusChange = (status: MigrationStatus) => MigrationStatus | undefined;

interface PendingChange {
  readonly change: StatusChange;
  readonly resolve: (isRecorded: boolean) => void;
}

export interface MigrationRecordOptions {
  readonly store: Pick<MigrationStore, 'fetch' | 'patchStatus'>;
  readonly mayWrite: () => boolean;
  readonly log: Log;
}

/** Maximum number of attempts to save, if other clients change the metadata of the resource at the same time. */
const maxAttempts = 5;

/**
 * The status of one Migration during a term. Only this process writes it, so it is newer than the mirror. Changes that arrive while a save
 * runs are saved together.
 */
export class MigrationRecord {
  readonly #options: MigrationRecordOptions;
  readonly #signal: AbortSignal;
  #migration: ValidMigration;
  #pending: PendingChange[] = [];
  #isSaving = false;
  #failures = 0;

  constructor(migration: ValidMigration, options: MigrationRecordOptions, signal: AbortSignal) {
    this.#migration = migration;
    this.#options = options;
    this.#signal = signal;
  }

  get migration(): ValidMigration {
    return this.#migration;
  }

  /** The number of saves in a row that the hub did not accept. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * Takes over the metadata of a Migration in the mirror, if users have changed them. Never takes over its status: the mirror may not have
   * the last saved one yet.
   */
  observe({ metadata }: Migration): void {
    if (requestsIn(metadata) !== requestsIn(this.#migration.metadata)) this.#migration = { ...this.#migration, metadata };
  }

  /**
   * Saves a change on the hub. True if it is saved. False if it did not apply any more, or could not be saved: the caller must not act on it,
   * and reads the record again.
   */
  save(change: StatusChange): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#pending.push({ change, resolve });
    if (!this.#isSaving) void this.#saveAll();
    return promise;
  }

  /** Saves an application in place of `before`. Does not apply if the application was changed since `before` was read. */
  saveApp(index: number, before: MigratedApp, after: MigratedApp): Promise<boolean> {
    return this.save((status) => {
      const { apps = [] } = status;
      return apps[index] === before ? { ...status, apps: apps.with(index, after) } : undefined;
    });
  }

  async #saveAll(): Promise<void> {
    this.#isSaving = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      const applied: PendingChange[] = [];
      let { status } = this.#migration;
      for (const one of batch) {
        const next = one.change(status);
        if (next === undefined) one.resolve(false);
        else {
          status = next;
          applied.push(one);
        }
      }
      const isRecorded = applied.length > 0 && (await this.#write(summarized(status, this.#migration.spec)));
      for (const { resolve } of applied) resolve(isRecorded);
    }
    this.#isSaving = false;
  }

  async #write(status: MigrationStatus): Promise<boolean> {
    const { store, mayWrite } = this.#options;
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      if (this.#signal.aborted || !mayWrite()) return false;
      const answer = await store.patchStatus(this.#migration, status, this.#signal);
      if (answer.result === 'written') {
        // Keeps `status` as it is, and does not parse it from the answer: passes compare its applications by identity.
        this.#migration = { ...this.#migration, metadata: answer.migration.metadata, status };
        this.#failures = 0;
        return true;
      }
      if (answer.result === 'failed') this.#noteFailure(answer.fault);
      if (answer.result !== 'conflict' || !(await this.#readAgain())) return false;
    }
    return false;
  }

  /** Counts a failure. Logs the first, second, fourth, eighth and so on of the failures in a row. */
  #noteFailure({ code, message }: Fault): void {
    if (this.#signal.aborted) return;
    this.#failures += 1;
    if (!Number.isInteger(Math.log2(this.#failures))) return;
    const { namespace, name } = this.#migration.metadata;
    const about = { migration: `${namespace}/${name}`, code, failures: this.#failures };
    this.#options.log.warn(about, `the hub did not save the status of a migration: ${message}`);
  }

  /**
   * Reads the resource again and takes over its metadata, so that the next write has the current version. Returns false if the resource is
   * gone or cannot be read. Also returns false, and takes over the status, if another process has written the status.
   */
  async #readAgain(): Promise<boolean> {
    const { metadata, status } = this.#migration;
    const found = await this.#options.store.fetch(metadata, this.#signal);
    if (found === 'absent' || 'fault' in found || found.metadata.uid !== metadata.uid) return false;
    const isSame = textOf(found.status) === textOf(status);
    this.#migration = { ...this.#migration, metadata: found.metadata, ...(isSame ? {} : { status: found.status }) };
    return isSame;
  }
}

/** Returns the parts of the metadata that users change, as one text to compare. */
function requestsIn({ annotations, finalizers, deletionTimestamp }: Migration['metadata']): string {
  return canonicalJson({ annotations, finalizers: [...finalizers], deletionTimestamp: deletionTimestamp ?? null });
}

function textOf(status: MigrationStatus): string {
  return canonicalJson(printMigrationStatus(status));
}
