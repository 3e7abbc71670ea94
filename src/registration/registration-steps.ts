import { describeFault } from '../changes/describe-fault.ts';
import type { ObjectAddress, ObjectClient, RunMode } from '../changes/object-client.ts';
import type { ClusterApi } from '../cluster/cluster-api.ts';
import type { Endpoint } from '../cluster/endpoint.ts';
import type { Fault } from '../core/faults.ts';
import { canonicalJson } from '../core/json/canonical-json.ts';
import { isJsonObject, parseJsonBody } from '../core/json.ts';
import { listAt, textAt } from '../core/json-at.ts';
import { apiVersionOf, type ServedResource } from '../core/kinds.ts';
import { isKubernetesObject, type KubernetesObject } from '../core/objects.ts';
import { isOwn, type RegistrationObject, registrationKinds } from './registration-kinds.ts';

/** A cluster of the kubeconfig, used with the rights of its context. */
export interface ContextCluster {
  /** The name in tables and messages. */
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly api: ClusterApi;
  readonly client: ObjectClient;
}

/** One line of the table that `muster join` and `muster leave` print. */
export interface RegistrationStep {
  readonly cluster: string;
  /** The kind and the name, such as `namespace/muster-system`. */
  readonly object: string;
  readonly action: 'created' | 'configured' | 'unchanged' | 'deleted';
}

/** A problem that ends the command. Its message is for the user. It is thrown and caught only in this folder. */
export class RegistrationProblem extends Error {
  override readonly name = 'RegistrationProblem';
}

/** The problem of a write that may have happened: its answer was lost, or the API server reported an internal error. */
export class UnclearWrite extends RegistrationProblem {}

/** Returns a problem with the text of a fault. The text has no values of objects. `what` names the object or request. */
export function problemOf(cluster: Pick<ContextCluster, 'name'>, what: string, fault: Fault): RegistrationProblem {
  return new RegistrationProblem(`${cluster.name}: ${what}: ${describeFault(fault)}`);
}

/** An object that this command has created, or may have created. */
export interface CreatedObject {
  readonly cluster: ContextCluster;
  readonly address: ObjectAddress;
  /** Undefined: the answer to the creation was lost, so it is unknown whether the object exists. */
  readonly uid: string | undefined;
  /** The line of the table. Undefined if the answer to the creation was lost. */
  readonly step: RegistrationStep | undefined;
}

/** Returns a function that is true for the created objects that an undo keeps. It may only read with the steps. */
export type UndoFilter = (steps: RegistrationSteps) => Promise<(created: CreatedObject) => boolean>;

/** Maximum number of attempts to write an object that other writers change at the same time. */
const maxAttempts = 5;

/** The number of objects per page of a list. */
const pageSize = 500;

/**
 * The steps of one command. Each method reads or writes objects of one cluster, and the writes are recorded for the table. A step that fails
 * throws a `RegistrationProblem`.
 */
export class RegistrationSteps {
  readonly #run: RunMode;
  #signal: AbortSignal;
  #done: RegistrationStep[] = [];
  #created: CreatedObject[] = [];

  /** @param run `dry`: writes are only checked by the API server, and recorded as if they had happened. `real`: objects are written. */
  constructor(run: RunMode, signal: AbortSignal) {
    this.#run = run;
    this.#signal = signal;
  }

  get isDry(): boolean {
    return this.#run === 'dry';
  }

  /** Returns what was done, in order. */
  done(): readonly RegistrationStep[] {
    return this.#done;
  }

  /** Reads an object. Undefined if it does not exist, or if the cluster does not serve the kind. */
  async read(cluster: ContextCluster, address: ObjectAddress): Promise<KubernetesObject | undefined> {
    const answer = await cluster.client.get(address, this.#signal);
    if (answer.result === 'answered') return answer.object;
    if (answer.result === 'absent' || answer.fault.code === 'NOT_SERVED' || answer.fault.code === 'NOT_FOUND') return undefined;
    throw problemOf(cluster, objectText(address), answer.fault);
  }

  /** True if the cluster serves the kind. */
  async serves(cluster: ContextCluster, resource: ServedResource): Promise<boolean> {
    const answer = await cluster.client.serves({ apiVersion: apiVersionOf(resource), kind: resource.kind }, this.#signal);
    if (typeof answer === 'boolean') return answer;
    throw problemOf(cluster, 'discovery', answer.fault);
  }

  /** Lists the objects of a kind with these labels, page by page. Empty if the cluster does not serve the kind. */
  async list(
    cluster: ContextCluster,
    resource: ServedResource,
    { namespace, labels }: { readonly namespace?: string; readonly labels?: string } = {},
  ): Promise<readonly KubernetesObject[]> {
    const base = resource.group === '' ? ['api', resource.version] : ['apis', resource.group, resource.version];
    const path = [...base, ...(namespace === undefined ? [] : ['namespaces', namespace]), resource.resource];
    const objects: KubernetesObject[] = [];
    for (let token = ''; ; ) {
      const query = {
        limit: String(pageSize),
        ...(labels === undefined ? {} : { labelSelector: labels }),
        ...(token === '' ? {} : { continue: token }),
      };
      const answer = await cluster.api.send({ method: 'GET', path, query }, this.#signal);
      if (answer.type === 'failed') {
        if (answer.fault.code === 'NOT_SERVED' || answer.fault.code === 'NOT_FOUND') return [];
        throw problemOf(cluster, resource.resource, answer.fault);
      }
      const page = parseJsonBody(answer.body);
      if (!isJsonObject(page)) throw new RegistrationProblem(`${cluster.name}: ${resource.resource}: expected a list`);
      objects.push(...listAt(page, 'items').filter(isKubernetesObject));
      token = textAt(page, 'metadata', 'continue') ?? '';
      if (token === '') return objects;
    }
  }

  /** Creates or updates an object as `applyWith` does. The manifest does not depend on the existing object. */
  async apply(cluster: ContextCluster, planned: RegistrationObject): Promise<KubernetesObject | undefined> {
    const { name, namespace } = planned.manifest.metadata;
    return this.applyWith(cluster, { resource: planned.resource, name, namespace }, () => planned.manifest);
  }

  /**
   * Creates or updates an object by a server-side apply. Reads the object first, and writes only if it has not changed since. After a change by
   * another writer, reads it and calls `plan` again, at most five times in all.
   *
   * Does not change an existing object without the label of `muster join`. A Namespace without the label is used as it is. For any other kind, the
   * step fails.
   *
   * @param plan Returns the manifest for the existing object, or throws a `RegistrationProblem`.
   * @returns The object as the cluster has it now. Undefined in a dry run that would create it.
   * @throws {UnclearWrite} if the write may have happened.
   */
  async applyWith(
    cluster: ContextCluster,
    address: ObjectAddress,
    plan: (before: KubernetesObject | undefined) => RegistrationObject['manifest'],
  ): Promise<KubernetesObject | undefined> {
    for (let left = maxAttempts; ; left--) {
      const before = await this.read(cluster, address);
      const isForeign = before !== undefined && !isOwn(before);
      if (isForeign && address.resource !== registrationKinds.namespace)
        throw new RegistrationProblem(`${cluster.name}: ${objectText(address)} exists, and muster join has not made it`);
      const manifest = plan(before);
      if (isForeign || (before === undefined && this.isDry)) {
        this.record(cluster, address, isForeign ? 'unchanged' : 'created');
        return before;
      }
      // With the version 1, the apply can only create (`ApplyObjectRequest`).
      const preconditions =
        before === undefined ? { resourceVersion: '1' } : { uid: before.metadata.uid, resourceVersion: before.metadata.resourceVersion };
      const answer = await cluster.client.apply({ ...address, manifest, preconditions, force: true, run: this.#run }, this.#signal);
      if (answer.result === 'answered') return this.#applied(cluster, address, { before, after: answer.object });
      if (answer.result === 'failed' && answer.fault.code !== 'CONFLICT') throw this.#failedApply(cluster, address, { before, ...answer });
      if (left <= 1) throw new RegistrationProblem(`${cluster.name}: ${objectText(address)} changes all the time: run the command again`);
    }
  }

  #applied(
    cluster: ContextCluster,
    address: ObjectAddress,
    { before, after }: { readonly before: KubernetesObject | undefined; readonly after: KubernetesObject },
  ): KubernetesObject {
    const change = before === undefined ? 'created' : isSameObject(before, after) ? 'unchanged' : 'configured';
    const step = this.record(cluster, address, change);
    if (before === undefined) this.#created.push({ cluster, address, uid: after.metadata.uid, step });
    return after;
  }

  #failedApply(
    cluster: ContextCluster,
    address: ObjectAddress,
    { before, fault }: { readonly before: KubernetesObject | undefined; readonly fault: Fault },
  ): RegistrationProblem {
    const { message } = problemOf(cluster, objectText(address), fault);
    if (this.isDry || isRejected(fault)) return new RegistrationProblem(message);
    if (before === undefined) this.#created.push({ cluster, address, uid: undefined, step: undefined });
    return new UnclearWrite(message);
  }

  /**
   * Deletes an object that was read, only if it still has the same uid. An object that no longer exists counts as deleted. Does nothing if the object is
   * being deleted already, as a namespace is for some seconds.
   */
  async remove(cluster: ContextCluster, resource: ServedResource, { metadata }: KubernetesObject): Promise<void> {
    const { name, namespace, uid, deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) return;
    const address = { resource, name, ...(namespace === undefined ? {} : { namespace }) };
    const answer = await cluster.client.delete({ ...address, preconditions: { uid }, cascade: 'Background', run: this.#run }, this.#signal);
    if (answer.result === 'failed') throw problemOf(cluster, objectText(address), answer.fault);
    this.record(cluster, address, 'deleted');
  }

  /** True if this run has created the object, or if a dry run would create it. */
  hasCreated({ name: cluster }: ContextCluster, { kind, name }: { readonly kind: string; readonly name: string }): boolean {
    const object = `${kind.toLowerCase()}/${name}`;
    return this.#done.some((step) => step.action === 'created' && step.cluster === cluster && step.object === object);
  }

  /** Keeps all objects that were created until now: a later `undo` does not delete them. */
  keepCreated(): void {
    this.#created = [];
  }

  /**
   * Deletes the objects that this run has created, in reverse order. If the answer to a creation was lost, it first reads whether the object exists.
   * Returns the problems; an object that cannot be deleted stays.
   *
   * @param signal Ends the undo. It replaces the signal of these steps, so it also ends all their later requests.
   * @param filter Chooses the created objects that stay. Default: none stays.
   */
  async undo(signal: AbortSignal, filter?: UndoFilter): Promise<readonly string[]> {
    this.#signal = signal;
    const problems: string[] = [];
    try {
      const isKept = this.#created.length === 0 ? undefined : await filter?.(this);
      for (const created of this.#created.toReversed())
        if (isKept?.(created) !== true) await this.#undoOne(created).catch((error: unknown) => problems.push(problemText(error)));
    } catch (error) {
      problems.push(problemText(error));
    }
    return problems;
  }

  async #undoOne({ cluster, address, uid: known, step }: CreatedObject): Promise<void> {
    const found = known === undefined ? await this.read(cluster, address) : undefined;
    const uid = known ?? (isOwn(found) ? found?.metadata.uid : undefined);
    if (uid === undefined) return;
    const answer = await cluster.client.delete({ ...address, preconditions: { uid }, cascade: 'Background', run: 'real' }, this.#signal);
    if (answer.result === 'failed') throw problemOf(cluster, objectText(address), answer.fault);
    this.#done = this.#done.filter((one) => one !== step);
  }

  /** Adds a line to the table. For steps that are taken outside of this class. */
  record({ name }: ContextCluster, address: ObjectAddress, action: RegistrationStep['action']): RegistrationStep {
    const step = { cluster: name, object: objectText(address), action };
    this.#done.push(step);
    return step;
  }
}

/** True if the API server has refused the request with a 4xx status, so that nothing was written. */
function isRejected({ status }: Fault): boolean {
  return status !== undefined && status.code >= 400 && status.code < 500;
}

function problemText(error: unknown): string {
  if (error instanceof RegistrationProblem) return error.message;
  throw error;
}

/** Returns the name of the object in the table, such as `namespace/muster-system`. */
function objectText({ resource: { kind }, name }: ObjectAddress): string {
  return `${kind.toLowerCase()}/${name}`;
}

/** True if a write has changed nothing except `managedFields`, `resourceVersion` and `generation`. */
function isSameObject(before: KubernetesObject, after: KubernetesObject): boolean {
  const content = ({ metadata, ...rest }: KubernetesObject) => {
    const { managedFields: _managed, resourceVersion: _version, generation: _generation, ...kept } = metadata;
    return canonicalJson({ ...rest, metadata: kept });
  };
  return content(before) === content(after);
}
