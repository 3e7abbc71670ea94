import type { Fault } from '../../core/faults.ts';
import type { JsonObject } from '../../core/json.ts';
import { objectAt, textAt } from '../../core/json-at.ts';
import type { KubernetesObject } from '../../core/objects.ts';
import {
  type Hub,
  type HubKind,
  type HubObjectAnswer,
  type HubObjectName,
  type HubRequestFailure,
  hubFault,
  reachHub,
  requestOnHub,
} from '../../propagate/hub/hub.ts';
import { resourceMetadataOf } from '../../propagate/hub/propagation-of.ts';
import { type AnnotationChange, createResourceWrites } from '../../propagate/hub/resource-writes.ts';
import { musterGroup, musterVersion } from '../../propagate/model/propagation.ts';
import type { MirroredObject } from '../../store/member-objects.ts';
import { type Migration, migrationMarks, parseMigrationSpec } from '../model/migration.ts';
import { type MigrationStatus, parseMigrationStatus, printMigrationStatus } from '../model/migration-status-definition.ts';

/** The kind of a Migration on the hub. */
export const migrationKind = {
  apiVersion: `${musterGroup}/${musterVersion}`,
  group: musterGroup,
  kind: 'Migration',
} as const satisfies HubKind;

/** The result of reading one Migration from the mirror. */
type MigrationRead =
  /**
   * The mirror has the Migration. `asOfMs`: the time at which the mirror was last known to be current. `fault`: why the mirror is behind
   * the hub; undefined if it is in sync.
   */
  | { readonly result: 'held'; readonly migration: Migration; readonly asOfMs: number; readonly fault?: Fault | undefined }
  | Exclude<MirroredObject, { readonly result: 'held' }>;

/** The result of one write. */
export type MigrationWrite = { readonly result: 'written'; readonly migration: Migration } | HubRequestFailure;

/** The spec and the annotations of a new Migration. */
interface MigrationCreation {
  readonly document: JsonObject;
  /** Default: no annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Reads and writes the Migrations of the hub. Reads come from the mirror, except `fetch`. Each write is one request with the gateway's own
 * account.
 */
export interface MigrationStore {
  /** Returns why the hub cannot be used: not in the fleet, no answer yet, or no kind `Migration`. Undefined if it can be used. */
  unavailability(): Fault | undefined;
  /** Reads one Migration from the mirror, without waiting. */
  read(name: HubObjectName): MigrationRead;
  /** Returns all Migrations in the mirror, in any order. Undefined while the mirror has no first list. */
  all(): readonly Migration[] | undefined;
  /** Fetches one Migration from the hub itself. */
  fetch(name: HubObjectName, signal: AbortSignal): Promise<Migration | 'absent' | { readonly fault: Fault }>;
  /** Creates a Migration. Gives `conflict` if a Migration of this name exists, and does not change that one. */
  create(name: HubObjectName, creation: MigrationCreation, signal: AbortSignal): Promise<MigrationWrite>;
  /** Changes annotations. Guarded by the uid only, so that it never conflicts with writes of the engine. */
  annotate(before: Migration, annotations: AnnotationChange, signal: AbortSignal): Promise<MigrationWrite>;
  /**
   * Writes the differences between `before.status` and `status`. Guarded by the version of `before`. Sends no request if they are equal.
   */
  patchStatus(before: Migration, status: MigrationStatus, signal: AbortSignal): Promise<MigrationWrite>;
  /** Adds or removes Muster's finalizer; other finalizers stay. Guarded by the version. Sends no request if nothing changes. */
  setFinalizer(before: Migration, state: 'present' | 'absent', signal: AbortSignal): Promise<MigrationWrite>;
}

/** Creates the store. Keeps the mirror of Migrations until the signal aborts. */
export function createMigrationStore(hub: Hub, signal: AbortSignal): MigrationStore {
  const { objects } = hub.members;
  const kind = migrationKind;
  const writes = createResourceWrites(hub, kind, migrationMarks.finalizer);
  objects.hold(hub.cluster, kind, signal);
  return {
    unavailability() {
      const reached = reachHub(hub, kind);
      return 'fault' in reached ? reached.fault : undefined;
    },
    read(objectName) {
      const mirrored = objects.read(hub.cluster, kind, objectName);
      if (mirrored.result !== 'held') return mirrored;
      const { object, ...read } = mirrored;
      return { ...read, migration: migrationOf(object) };
    },
    all: () => objects.all(hub.cluster, kind)?.map(migrationOf),
    async fetch(objectName, until) {
      const answer = await requestOnHub(hub, { kind, objectName }, (client, address) => client.get(address, until));
      if (answer.result === 'written') return migrationOf(answer.object);
      if (answer.result === 'absent') return 'absent';
      return { fault: answer.result === 'failed' ? answer.fault : hubFault(hub, 'CONFLICT', 'expected an answer to a read') };
    },
    create: async (objectName, { document, annotations = {} }, until) =>
      migrationWriteOf(await writes.create(objectName, { labels: {}, annotations, spec: document }, until)),
    annotate: async ({ metadata }, annotations, until) => migrationWriteOf(await writes.annotate(metadata, annotations, until)),
    async patchStatus(before, after, until) {
      const status = { before: printMigrationStatus(before.status), after: printMigrationStatus(after) };
      const answer = await writes.patchStatus(before.metadata, status, until);
      return answer === 'unchanged' ? { result: 'written', migration: before } : migrationWriteOf(answer);
    },
    async setFinalizer(before, state, until) {
      const answer = await writes.setFinalizer(before.metadata, state, until);
      return answer === 'unchanged' ? { result: 'written', migration: before } : migrationWriteOf(answer);
    },
  };
}

function migrationWriteOf(answer: HubObjectAnswer): MigrationWrite {
  return answer.result === 'written' ? { result: 'written', migration: migrationOf(answer.object) } : answer;
}

const parsed = new WeakMap<KubernetesObject, Migration>();

/** Parses an object as a Migration. The result is cached per object. */
function migrationOf(object: KubernetesObject): Migration {
  const known = parsed.get(object);
  if (known !== undefined) return known;
  const document = objectAt(object, 'spec');
  const migration = {
    metadata: { ...resourceMetadataOf(object), createdAt: textAt(object, 'metadata', 'creationTimestamp') ?? '' },
    document,
    spec: parseMigrationSpec(document),
    status: parseMigrationStatus(objectAt(object, 'status')),
  };
  parsed.set(object, migration);
  return migration;
}
