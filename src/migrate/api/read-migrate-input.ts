import type { Caller } from '../../access/access.ts';
import { visibleCluster } from '../../changes/change-targets.ts';
import type { TargetInput } from '../../changes/object-changes.ts';
import type { WriteContext } from '../../changes/write-context.ts';
import { MusterError } from '../../core/errors.ts';
import type { DocumentProblem } from '../../core/json/documents.ts';
import { apiVersionOf } from '../../core/kinds.ts';
import { parseClusterName } from '../../core/names.ts';
import { parseObjectId } from '../../core/object-ids.ts';
import { isSubdomain } from '../../core/selectors.ts';
import { documentOfMigrateInput, type MigrateInput } from '../model/migrate-input.ts';
import { type MigrationSpec, parseMigrationSpec } from '../model/migration.ts';
import type { MigrationName } from '../model/migrations.ts';
import type { MigrationsPorts } from './migrations-ports.ts';

/** A checked input. */
export interface RequestedMove {
  readonly name: MigrationName;
  readonly spec: MigrationSpec;
}

/**
 * Checks an input, and adds the requester to its spec.
 *
 * @throws {MusterError} `BAD_INPUT` for a wrong field, an unknown hook, and unknown or hidden clusters.
 */
export function readMigrateInput(ports: MigrationsPorts, { caller }: WriteContext, input: MigrateInput): RequestedMove {
  const { namespace, name, document, problems } = documentOfMigrateInput(withReferences(ports, caller, input));
  const found: DocumentProblem[] = [...problems];
  if (!isSubdomain(name)) found.push({ path: 'name', message: 'expected lower-case letters, digits, - and ., at most 253' });
  if (!isSubdomain(namespace) || namespace.length > 63) found.push({ path: 'namespace', message: 'expected the name of a namespace' });
  if (Object.hasOwn(document, 'requester')) found.push({ path: 'requester', message: 'is set by the gateway' });
  const { requester: _requester, ...fields } = document;
  const spec = parseMigrationSpec(fields);
  if ('problems' in spec) {
    for (const problem of spec.problems) found.push(problem);
  } else if (spec.traffic !== undefined && !ports.hooks.includes(spec.traffic)) {
    found.push({ path: 'traffic', message: `expected the name of a hook of the config file, got ${JSON.stringify(spec.traffic)}` });
  }
  if (found.length > 0 || 'problems' in spec) throw badInput(found);
  const seen = { members: ports.members, access: ports.access, caller };
  for (const cluster of [spec.from, spec.to, ...(spec.backup?.cluster === undefined ? [] : [spec.backup.cluster])])
    visibleCluster(cluster, seen);
  const requester = { ...ports.requesterOfCaller(caller), at: new Date(ports.clock.now()).toISOString() };
  return { name: { namespace, name }, spec: { ...spec, requester } };
}

/** Returns one error that names the first ten problems of an input. */
export function badInput(problems: readonly DocumentProblem[]): MusterError {
  const shown = problems.slice(0, 10).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return new MusterError('BAD_INPUT', shown.join('; '));
}

/**
 * Replaces each target that has an id by a reference. Ids have no version: the version that the cluster serves is used. Clusters that are hidden from
 * the caller count as unknown.
 */
function withReferences({ members, access }: MigrationsPorts, caller: Caller, input: MigrateInput): MigrateInput {
  if (!Array.isArray(input.apps)) return input;
  const apps = (input.apps as readonly TargetInput[]).map((target, index) => {
    if (!('id' in target)) return target;
    const { cluster, namespace, name, uid, ...kind } = parseObjectId(target.id);
    // A source that is down may never have answered. The version is then that of the first other cluster that serves the kind.
    const named = parseClusterName(cluster);
    const clusters = [...(named === undefined ? [] : [named]), ...members.all().map(({ name }) => name)];
    const visible = clusters.filter((name) => access.maySeeCluster(caller, name));
    const versions = visible.map((name) => members.objects.served(name, kind));
    const served = versions.find((one) => one !== undefined && one !== 'absent');
    if (served === undefined)
      throw badInput([{ path: `apps[${index}].id`, message: `expected a kind that a cluster serves, got ${kind.kind}` }]);
    return {
      ref: {
        cluster,
        apiVersion: apiVersionOf(served),
        kind: kind.kind,
        ...(namespace === '' ? {} : { namespace }),
        name,
        ...(uid === undefined ? {} : { uid }),
      },
    };
  });
  return { ...input, apps };
}
