import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import type { JsonObject } from '../../core/json.ts';
import { idOfObject } from '../../core/object-ids.ts';
import { parseObjectWords } from '../arguments/object-words.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import { noClusterServes, resolveKinds } from '../client/resolve-kinds.ts';
import type { Session } from '../client/session.ts';

/** The flags of `muster migrate` that say what to move, and how. */
export interface MigrateFlags {
  readonly from?: string;
  readonly to?: string;
  readonly selector?: string;
  readonly app?: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
  readonly copies?: number;
  readonly priority?: string;
  readonly backup?: string;
  readonly backupLabels?: string;
  readonly backupCluster?: string;
  readonly traffic?: string;
  readonly deadline?: string;
  readonly soak?: string;
  readonly maxConcurrency?: string;
  readonly onFailure?: 'pause' | 'rollback' | 'continue';
  readonly runAs?: string;
}

/**
 * Returns the `MigrateInput` of the flags. A migration without `--name` gets a name with five random characters.
 *
 * @throws {CommandFailure} if the flags do not fit together, or name no kind.
 */
export async function migrateInputOfFlags(session: Session, flags: MigrateFlags): Promise<JsonObject & { readonly name: string }> {
  const { from, to, selector, app, namespace = 'default', copies, priority, traffic, deadline, soak, maxConcurrency, onFailure } = flags;
  if (from === undefined || to === undefined) throw new CommandFailure(exitCodes.refused, 'expected --from and --to');
  if ((selector === undefined) === (app === undefined)) throw new CommandFailure(exitCodes.refused, 'expected either -l or --app');
  const backup = backupOf(flags);
  return withoutUndefined({
    namespace,
    name: flags.name ?? generatedName(session, from, to),
    from,
    to,
    labels: selector,
    apps: app === undefined ? undefined : await appsOf(session, app, { from, namespace }),
    copies,
    priority: priority?.split(',').map((name) => name.trim()),
    traffic,
    deadline,
    soak,
    maxConcurrency: maxConcurrency !== undefined && /^\d+$/.test(maxConcurrency) ? Number(maxConcurrency) : maxConcurrency,
    onFailure: onFailure === undefined ? undefined : schemaSpelling(onFailure),
    runAs: flags.runAs === undefined ? undefined : { serviceAccount: accountOf(flags.runAs) },
    ...(backup === undefined ? {} : { source: 'VELERO', backup }),
  });
}

/** Returns the member `backup` of the input. Undefined if no flag about backups is given: the manifests are then not read from a backup. */
function backupOf({ backup, backupLabels: labels, backupCluster: cluster }: MigrateFlags): JsonObject | undefined {
  if (backup === undefined && labels === undefined && cluster === undefined) return undefined;
  const isFile = backup?.endsWith('.tar.gz') === true;
  const named = backup === undefined ? {} : isFile ? { file: backup } : { name: backup };
  return { ...named, ...(labels === undefined ? {} : { labels }), ...(cluster === undefined ? {} : { cluster }) };
}

async function appsOf(
  session: Session,
  words: readonly string[],
  { from, namespace }: { readonly from: string; readonly namespace: string },
): Promise<readonly JsonObject[]> {
  const named = parseObjectWords(words, { words: 'KIND/NAME', why: 'a migration needs names' });
  return Promise.all(
    named.map(async ({ kind: word, name }) => {
      const [resolved] = await resolveKinds(session, [word]);
      if (resolved === undefined) throw noClusterServes([word]);
      const { group, kind } = resolved.kind;
      return { id: idOfObject({ cluster: from, group, kind, namespace, name }) };
    }),
  );
}

function accountOf(text: string): JsonObject {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (namespace !== '' && name !== '' && rest.length === 0) return { namespace, name };
  throw new CommandFailure(exitCodes.refused, `expected a service account as NAMESPACE/NAME in --run-as, got ${text}`);
}

const letters = 'bcdfghjklmnpqrstvwxz2456789';

/** Returns a name such as `east-to-west-x7k2p`. Names of clusters may have characters that a resource may not. */
function generatedName({ clock }: Session, from: string, to: string): string {
  const random = Array.from({ length: 5 }, () => letters.charAt(Math.floor(clock.random() * letters.length))).join('');
  const clean = (cluster: string) =>
    cluster
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 100);
  return `${clean(from)}-to-${clean(to)}-${random}`.replace(/^-/, '');
}

function withoutUndefined<T extends JsonObject>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
