import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Access, Caller } from './access/access.ts';
import { apiForCaller } from './access/caller-api.ts';
import { createLocalAccess } from './access/local-access.ts';
import type { Audit } from './audit/audit.ts';
import { type Accounts, createActingClients, type IdentityVisibility } from './changes/acting-clients.ts';
import { createObjectChanges } from './changes/create-object-changes.ts';
import type { Members } from './changes/members.ts';
import type { ObjectClient } from './changes/object-client.ts';
import type { Config } from './config/config.ts';
import { defaultSystemNamespace } from './config/defaults.ts';
import type { Clock } from './core/clock.ts';
import type { GroupKind } from './core/kinds.ts';
import type { Log } from './core/log.ts';
import { type ClusterName, clusterName } from './core/names.ts';
import { createSensitiveKinds, type SensitiveKinds } from './core/sensitive-kinds.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { GraphContext } from './graph/context/context.ts';
import { createImports } from './importers/create-imports.ts';
import { runUpkeep } from './importers/upkeep/run-upkeep.ts';
import type { FoundClusters } from './inventories/found-clusters.ts';
import { createClusterViews } from './load/reads/cluster-views.ts';
import type { ClusterView } from './load/reads/reads.ts';
import { listRulesIn } from './manifests/list-rules.ts';
import { createMigrations } from './migrate/api/create-migrations.ts';
import { createBackupReader } from './migrate/backups/create-backup-reader.ts';
import { createAppRevisionStore } from './migrate/hub/app-revision-store.ts';
import { createMigrationStore, migrationKind } from './migrate/hub/migration-store.ts';
import { createMigrationPlanner } from './migrate/plan/create-migration-planner.ts';
import { runMigrations } from './migrate/steps/run-migrations.ts';
import type { MigrationPorts } from './migrate/steps/step-ports.ts';
import type { Model } from './model/model.ts';
import { createPropagations } from './propagate/api/create-propagations.ts';
import { createHubRights, type HubRights } from './propagate/api/hub-rights.ts';
import { lookUpPropagations } from './propagate/api/look-up-propagations.ts';
import { createController } from './propagate/controller/create-controller.ts';
import type { Leadership } from './propagate/controller/lease/leadership.ts';
import type { Term } from './propagate/controller/lease/lease.ts';
import type { LeaseNamespaceRule } from './propagate/controller/lease/lease-namespace.ts';
import { type Hub, hubKinds } from './propagate/hub/hub.ts';
import { createHubStores, type HubStores } from './propagate/hub/hub-stores.ts';
import type { Requester } from './propagate/model/spec.ts';
import { createPlanner } from './propagate/plan/create-planner.ts';
import type { Planner } from './propagate/plan/planner.ts';
import type { ClientOf } from './propagate/plan/snapshot/plan-request.ts';
import { renewTokens } from './registration/renew-tokens.ts';
import { gatewayCaller, writeRegistrationStatuses } from './registration/write-statuses.ts';
import { createMemberObjects } from './watch/clusters/member-objects.ts';
import type { MirrorRegistry } from './watch/clusters/registry.ts';

export interface WriteSideOptions {
  readonly mirrors: MirrorRegistry;
  readonly fleet: Fleet;
  readonly found: FoundClusters;
  /** Decides what callers and requesters may see and do. */
  readonly access: Access;
  /** `one` in local mode, else `many`. */
  readonly accounts: Accounts;
  readonly audit: Audit;
  readonly model: () => Model;
  /** The cluster that keeps Propagations. Undefined: there is no hub. */
  readonly hub?: string | undefined;
  readonly config: Pick<
    Config,
    'allowPrivate' | 'importers' | 'hooks' | 'backups' | 'sensitiveKinds' | 'systemNamespace' | 'environment' | 'readOnly'
  >;
  /** Milliseconds before the controller sends its first request. Default: 0. */
  readonly controllerStartMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The resolvers that write, and the controller. Disposing of it stops the workers first and then releases the Lease. */
export interface WriteSide extends AsyncDisposable {
  readonly resolvers: Pick<GraphContext, 'writes' | 'propagations' | 'migrations' | 'imports'>;
  /** Undefined without a hub. */
  readonly leadership?: Leadership | undefined;
}

/** The caller in local mode. Requests use the account of the kubeconfig; this is only its name in Propagations. */
const localRequester = { user: 'local', groups: [], extra: {} };

/** Returns the user, uid, groups and extra that are recorded as the requester in intents and Migrations, without prefixes of a cluster. */
function requesterOfCaller({ user }: Caller): Omit<Requester, 'at'> {
  if (user === undefined) return localRequester;
  const { user: name, uid, groups, extra } = user;
  return { user: name, groups, extra, ...(uid === undefined ? {} : { uid }) };
}

/** Returns the rule for the namespace of the Lease. In a Pod, or with a namespace of the config, the Lease is in no other namespace. */
function leaseNamespaceRuleIn({ systemNamespace, environment }: WriteSideOptions['config']): LeaseNamespaceRule {
  const isInPod = environment.KUBERNETES_SERVICE_HOST !== undefined;
  return { namespace: systemNamespace, isRequired: isInPod || systemNamespace !== defaultSystemNamespace };
}

/** Wires everything that writes. With a hub, also starts its controller. */
export function createWriteSide(options: WriteSideOptions, signal: AbortSignal): WriteSide {
  const { fleet, access, accounts, model, clock, log } = options;
  const members = membersOf(options, signal);
  const clients = createActingClients({ member: (name) => fleet.member(name), access, accounts });
  const { own, clientOf, visibility } = clients;
  const sensitiveKinds = createSensitiveKinds(options.config.sensitiveKinds);
  const listRulesOf = listRulesIn(model);
  const hub = options.hub === undefined ? undefined : hubNamed(clusterName(options.hub), { members, own }, signal);
  const shared = { members, clientOf, visibility, listRulesOf, sensitiveKinds, accounts, clock, log } as const;
  const planner = createPlanner({ ...shared, ...(hub === undefined ? {} : { hub: { ...hub, cluster: hub.hub.cluster } }) });
  const migrations = migrationSideOf(options, { members, clientOf, visibility, sensitiveKinds, planner, hub }, signal);
  const rights = hub && rightsOnHub(options, hub.hub.cluster, hubKinds.propagation);
  const leaseNamespaceRule = leaseNamespaceRuleIn(options.config);
  const local = {
    identity: `${options.config.environment.HOSTNAME || hostname()}_${randomUUID()}`,
    leaseNamespaceRule,
    startAfterMs: options.controllerStartMs,
  } as const;
  const upkeep = hub === undefined ? undefined : upkeepOf(options, hub, clientOf);
  const registrations = hub === undefined ? undefined : registrationsOf(options, hub.hub);
  const leaderWork = async (term: Term) => {
    await Promise.all([upkeep?.(term), migrations.leaderWork?.(term), registrations?.(term)]);
  };
  const controller =
    hub === undefined || options.config.readOnly
      ? undefined
      : createController({ ...shared, ...local, hub: hub.hub, planner, stores: hub, leaderWork }, signal);
  return {
    resolvers: {
      writes: createObjectChanges({
        members,
        access,
        clientOf: clients.ofCaller,
        isSensitive: (kind) => sensitiveKinds.has(kind),
        audit: options.audit,
        clock,
        log,
      }),
      imports: createImports({
        members,
        access,
        apiOf(name, operation) {
          const member = fleet.member(name);
          return member && apiForCaller(member, operation);
        },
        sensitiveKinds,
        ...(hub && {
          hub: {
            cluster: hub.hub.cluster,
            lookUp: (context) => lookUpPropagations({ stores: hub, rights }, context),
            keepsResources: options.config.importers.length > 0,
          },
        }),
      }),
      propagations: createPropagations({
        ...{ planner, audit: options.audit, requesterOfCaller, clock },
        ...(hub === undefined ? {} : { hub }),
        ...(rights === undefined ? {} : { rights }),
      }),
      migrations: migrations.resolver,
    },
    leadership: controller?.leadership,
    [Symbol.asyncDispose]: async () => controller?.[Symbol.asyncDispose](),
  };
}

interface MigrationSideOptions {
  readonly members: Members;
  readonly clientOf: ClientOf;
  readonly visibility: IdentityVisibility | undefined;
  readonly sensitiveKinds: SensitiveKinds;
  readonly planner: Planner;
  readonly hub: HubStores | undefined;
}

/** Returns the operations on Migrations, and with a hub the work of the leader that carries them out. */
function migrationSideOf(general: WriteSideOptions, options: MigrationSideOptions, signal: AbortSignal) {
  const { access, audit, config, clock, log } = general;
  const { hooks, backups } = config;
  const { hub, ...shared } = options;
  const { members, clientOf, visibility } = shared;
  const readBackup = createBackupReader({ members, clientOf, visibility, config: backups, allowPrivate: config.allowPrivate, clock });
  const onHub = hub && { hub: hub.hub, migrations: createMigrationStore(hub.hub, signal) };
  const planner = createMigrationPlanner({
    ...{ ...shared, readBackup, clock, migrations: onHub?.migrations },
    ...(hub && { hub: { ...hub, cluster: hub.hub.cluster } }),
  });
  const rights = hub && rightsOnHub(general, hub.hub.cluster, migrationKind);
  const resolver = createMigrations({
    ...{ planner, members, clock, access, audit, hooks: hooks.map(({ name }) => name) },
    ...(onHub && { hub: onHub }),
    ...(rights && { rights }),
    requesterOfCaller,
  });
  if (onHub === undefined || hub === undefined) return { resolver };
  const { propagations, shares } = hub;
  const revisions = createAppRevisionStore(onHub.hub);
  const hookNamed = (wanted: string) => hooks.find(({ name }) => name === wanted);
  const ports: MigrationPorts = {
    ...onHub,
    propagations,
    shares,
    revisions,
    clientOf,
    visibility,
    planner,
    readBackup,
    hookNamed,
    clock,
    log,
  };
  return { resolver, leaderWork: (term: Term) => runMigrations(ports, term) };
}

/** Returns the rights of callers to a kind on the hub. Undefined in local mode: every caller may do everything. */
function rightsOnHub({ access, accounts }: WriteSideOptions, cluster: ClusterName, kind: GroupKind): HubRights | undefined {
  return accounts === 'one' ? undefined : createHubRights({ access, cluster, kind });
}

/** Returns the work of the leader for the resources of other systems. Undefined if the config names none. */
function upkeepOf(
  { config: { importers }, clock, log }: WriteSideOptions,
  { hub, propagations }: HubStores,
  clientOf: ClientOf,
): ((term: Term) => Promise<void>) | undefined {
  const [importer] = importers;
  if (importer === undefined) return undefined;
  return (term) => runUpkeep({ hub, propagations, clientOf, serviceAccount: importer.serviceAccount, clock, log }, term);
}

/** Returns the work of the leader for registered clusters. */
function registrationsOf({ fleet, mirrors, found, config, audit, clock, log }: WriteSideOptions, hub: Hub): (term: Term) => Promise<void> {
  const { systemNamespace } = config;
  const ports = { hub, systemNamespace, fleet, mirrors, registered: () => found.registered(), audit, clock, log };
  return async (term) => {
    await Promise.all([writeRegistrationStatuses(ports, term), renewTokens(ports, term)]);
  };
}

function membersOf({ mirrors, fleet, accounts, clock, log }: WriteSideOptions, signal: AbortSignal): Members {
  const settingsOf = (name: ClusterName) => fleet.member(name)?.settings;
  const views = createClusterViews({ mirrors, access: createLocalAccess(), settingsOf });
  // With many accounts, faults with `other` are left out. They name a second cluster. Plans would show its name to callers who may not see it.
  const shown = (view: ClusterView): ClusterView =>
    accounts === 'one' ? view : { ...view, faults: view.faults.filter(({ other }) => other === undefined) };
  return {
    all: () => views.visible(gatewayCaller).map(shown),
    get(name) {
      const view = views.find(gatewayCaller, name);
      return view && shown(view);
    },
    api: (name) => fleet.member(name)?.api,
    objects: createMemberObjects({ mirrors, clock, log }, signal),
  };
}

function hubNamed(
  cluster: ClusterName,
  { members, own }: { readonly members: Members; readonly own: (name: ClusterName) => ObjectClient | undefined },
  signal: AbortSignal,
) {
  return createHubStores({ cluster, members, client: () => own(cluster) }, signal);
}
