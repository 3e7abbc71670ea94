import { canonicalJson, sha256OfText } from '../../core/json/canonical-json.ts';
import type { Json } from '../../core/json.ts';
import { liveHashOf } from '../../manifests/live-hash.ts';
import { textOfKey } from '../../manifests/object-key.ts';
import { type MigrationSpec, printMigrationSpec } from '../model/migration.ts';
import type { AppPlan, MigrationPlan } from '../model/migration-plan.ts';

/**
 * Returns the digest of a plan: SHA-256 over the spec without its requester, the backup, and per application whether it moves, its counts,
 * its Propagation with the hash of its spec, and the action, hash and uid of each object. Amounts of room and times do not change it.
 */
export function migrationDigestOf(spec: MigrationSpec, { apps, backup }: Pick<MigrationPlan, 'apps' | 'backup'>): string {
  const { requester: _requester, ...content } = spec;
  const used: Json = backup === undefined ? null : [backup.cluster ?? null, backup.name, backup.completedAt ?? null];
  return sha256OfText(canonicalJson([printMigrationSpec(content), used, apps.map(digestedApp)]));
}

function digestedApp({ key, uid, from, to, skipped, propagated, target, source }: AppPlan): Json {
  return [
    textOfKey(key),
    uid ?? null,
    skipped?.reason ?? null,
    from,
    to,
    propagated === undefined
      ? null
      : [propagated.propagation.metadata.uid, propagated.placement, sha256OfText(canonicalJson(propagated.propagation.document))],
    target.map((object) => [textOfKey(object.key), object.action, object.desiredHash, object.uid ?? null]),
    source.map((object) => [textOfKey(object.key), object.action, object.uid ?? null, liveHashOf(object.object)]),
  ];
}
