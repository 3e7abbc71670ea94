import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { documentOfInput, inputOfDocument } from '../../propagate/model/input-translation.ts';
import type { SpecProblem } from '../../propagate/model/spec.ts';
import { type Migration, printMigrationSpec } from './migration.ts';
import { migrationSpec } from './migration-spec-definition.ts';

/** `MigrateInput` of GraphQL. Enum values are spelled as in the schema (`VELERO`). The ids of targets are resolved to references already. */
export interface MigrateInput {
  readonly namespace: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

/** A requested Migration: its namespace, its name, and its spec as a document that is not checked yet. */
export interface RequestedMigration {
  readonly namespace: string;
  readonly name: string;
  readonly document: JsonObject;
  /** Problems of values that no document can hold, such as a selector with `<`. */
  readonly problems: readonly SpecProblem[];
}

/** Turns a GraphQL input into the document of a resource. Unknown members stay in the document, so that `parseMigrationSpec` reports them. */
export function documentOfMigrateInput({ namespace, name, apps, ...fields }: MigrateInput): RequestedMigration {
  const flat = Array.isArray(apps) ? { apps: apps.map(referenceIn) } : {};
  return { namespace, name, ...documentOfInput({ ...fields, ...flat }, migrationSpec) };
}

/** Turns a resource into a `MigrateInput`, the reverse of `documentOfMigrateInput`. */
export function migrateInputOf({ metadata: { namespace, name }, spec, document }: Pick<Migration, 'metadata' | 'spec' | 'document'>): Json {
  const { requester: _requester, ...rest } = 'problems' in spec ? document : printMigrationSpec(spec);
  const { apps, ...fields } = inputOfDocument(rest, migrationSpec);
  const cluster = fields.from ?? null;
  const refs = Array.isArray(apps) ? { apps: apps.map((app: Json) => ({ ref: isJsonObject(app) ? { cluster, ...app } : app })) } : {};
  return { namespace, name, ...fields, ...refs };
}

function referenceIn(target: unknown): unknown {
  return typeof target === 'object' && target !== null && 'ref' in target ? target.ref : target;
}
