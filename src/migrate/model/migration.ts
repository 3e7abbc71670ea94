import type { z } from 'zod';
import { invariant } from '../../core/errors.ts';
import { canonicalJson } from '../../core/json/canonical-json.ts';
import { type DocumentProblem, printDocument, readDocument } from '../../core/json/documents.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { PropagationMetadata } from '../../propagate/model/propagation.ts';
import { migrationSpec } from './migration-spec-definition.ts';
import type { MigrationStatus } from './migration-status-definition.ts';

/**
 * `spec` of a Migration, validated and with its defaults. Enum values are spelled as in the custom resource (`Velero`). Durations are in
 * milliseconds. `migration-spec-definition.ts` describes the fields.
 */
export type MigrationSpec = z.output<typeof migrationSpec>;

export type BackupSpec = NonNullable<MigrationSpec['backup']>;

/** The metadata of a Migration on the hub. */
interface MigrationMetadata extends PropagationMetadata {
  /** RFC 3339. */
  readonly createdAt: string;
}

/** One Migration as read from the hub. */
export interface Migration {
  readonly metadata: MigrationMetadata;
  /** The unparsed `spec` of the resource. */
  readonly document: JsonObject;
  /** The parsed spec, or the problems if it is not valid. Kubernetes lets users write an invalid resource. */
  readonly spec: MigrationSpec | { readonly problems: readonly DocumentProblem[] };
  readonly status: MigrationStatus;
}

/** The labels, annotations and the finalizer that Muster writes for migrations. */
export const migrationMarks = {
  /** Finalizer of a Migration: before the Migration is gone, the engine undoes the applications that are not `Done`. */
  finalizer: 'muster.dev/migration',
  /** Label of copies and revisions: the uid of the Migration. A hint, not a proof. */
  migration: 'muster.dev/migration',
  /**
   * Annotation of copies: the intent token, a random text that the inventory saves before the copy is created. It identifies the copy after
   * a crash.
   */
  intent: 'muster.dev/intent',
  /** Annotation of a Migration: the digest of the plan that the user requested. The engine carries out no other plan. */
  planDigest: 'muster.dev/plan-digest',
  /** Annotation of a Migration: the time at which a user requested its undo, in RFC 3339. */
  undo: 'muster.dev/undo',
  /** Annotation of a Migration: the time at which a user last requested that it continues after a failure, in RFC 3339. */
  resumedAt: 'muster.dev/resumed-at',
} as const;

/** Reads the spec of a document, with its defaults. If the document is wrong, returns all problems. Never throws. */
export function parseMigrationSpec(document: JsonObject): MigrationSpec | { readonly problems: readonly DocumentProblem[] } {
  const read = readDocument(migrationSpec, document);
  return 'problems' in read ? read : read.value;
}

/**
 * Prints a spec as a document in canonical form: without defaults, and equal for equal specs. `parseMigrationSpec` reads an equal spec from
 * it. Omits the cluster of `apps`, because it always equals `from`.
 */
export function printMigrationSpec(spec: MigrationSpec): JsonObject {
  const apps = spec.apps?.map(({ cluster: _cluster, ...app }) => app);
  const document = printDocument(migrationSpec, { ...spec, ...(apps === undefined ? {} : { apps }) });
  invariant(isJsonObject(document), 'a spec is printed as an object');
  return document;
}

/** True if two specs request the same migration. The requester is not compared. */
export function isSameMigration(a: MigrationSpec, b: MigrationSpec): boolean {
  const printed = ({ requester: _requester, ...spec }: MigrationSpec) => canonicalJson(printMigrationSpec(spec));
  return printed(a) === printed(b);
}
