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

/** Ends a command with a message for the user. Thrown and caught inside of this folder only. */
export class RegistrationProblem extends Error {
  override readonly name = 'RegistrationProblem';
}

/** Returns the problem for a fault of a cluster. It shows no value of an object. */
export function problemOf(cluster: Pick<ContextCluster, 'name'>, what: string, fault: Fault): RegistrationProblem {
  return new RegistrationProblem(`${cluster.name}: ${what}: ${describeFault(fault)}`);
}

/** An object that a run has created. */
interface CreatedObject {
  readonly cluster: ContextCluster;
  readonly address: ObjectAddress;
  readonly uid: string | undefined;
  readonly step: RegistrationStep;
}

/** The number of objects per page of a list. */
const pageSize = 500;

/** The steps of one command: requests about single objects, with a record of what was done. A failed step throws a `RegistrationProblem`. */
export class RegistrationSteps {
  readonly #run: RunMode;
  readonly #signal: AbortSignal;
  #done: RegistrationStep[] = [];
  #created: CreatedObject[] = [];

  /** @param run `dry`: the steps check and report, but write nothing. */
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

  /**
   * Creates or updates an object by a server-side apply. An existing Namespace that is not ours is used as it is; any other such object is
   * a problem.
   *
   * @returns The object as the cluster has it now. Undefined in a dry run of a creation.
   */
  async apply(cluster: ContextCluster, { resource, manifest }: RegistrationObject): Promise<KubernetesObject | undefined> {
    const { name, namespace } = manifest.metadata;
    const address = { resource, name, ...(namespace === undefined ? {} : { namespace }) };
    const before = await this.read(cluster, address);
    if (before !== undefined && !isOwn(before)) {
      if (resource !== registrationKinds.namespace)
        throw new RegistrationProblem(`${cluster.name}: ${objectText(address)} exists, and muster join has not made it`);
      this.record(cluster, address, 'unchanged');
      return before;
    }
    if (before === undefined && this.isDry) {
      this.record(cluster, address, 'created');
      return undefined;
    }
    const preconditions = before === undefined ? { resourceVersion: '1' } : { uid: before.metadata.uid };
    const answer = await cluster.client.apply({ ...address, manifest, preconditions, force: true, run: this.#run }, this.#signal);
    if (answer.result === 'failed') throw problemOf(cluster, objectText(address), answer.fault);
    if (answer.result === 'absent') throw new RegistrationProblem(`${cluster.name}: ${objectText(address)} was deleted meanwhile`);
    const change = before === undefined ? 'created' : isSameObject(before, answer.object) ? 'unchanged' : 'configured';
    const step = this.record(cluster, address, change);
    if (before === undefined) this.#created.push({ cluster, address, uid: answer.object.metadata.uid, step });
    return answer.object;
  }

  /** Deletes an object that was read, guarded by its uid. An object that is gone already counts as deleted. */
  async remove(cluster: ContextCluster, resource: ServedResource, { metadata }: KubernetesObject): Promise<void> {
    const { name, namespace, uid } = metadata;
    const address = { resource, name, ...(namespace === undefined ? {} : { namespace }) };
    const answer = await cluster.client.delete({ ...address, preconditions: { uid }, cascade: 'Background', run: this.#run }, this.#signal);
    if (answer.result === 'failed') throw problemOf(cluster, objectText(address), answer.fault);
    this.record(cluster, address, 'deleted');
  }

  /** True if this run has created the object, or would create it if it were not dry. */
  hasCreated({ name: cluster }: ContextCluster, { kind, name }: { readonly kind: string; readonly name: string }): boolean {
    const object = `${kind.toLowerCase()}/${name}`;
    return this.#done.some((step) => step.action === 'created' && step.cluster === cluster && step.object === object);
  }

  /** `undo` does not delete what was created until now. */
  keepCreated(): void {
    this.#created = [];
  }

  /** Deletes the objects that this run has created, the last one first. Returns the problems; an object that cannot be deleted stays. */
  async undo(signal: AbortSignal): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const { cluster, address, uid, step } of this.#created.toReversed()) {
      const answer = await cluster.client.delete({ ...address, preconditions: { uid }, cascade: 'Background', run: 'real' }, signal);
      if (answer.result === 'failed') problems.push(problemOf(cluster, objectText(address), answer.fault).message);
      else this.#done = this.#done.filter((one) => one !== step);
    }
    return problems;
  }

  /** Records a step. Use it only for steps that no other method takes. */
  record({ name }: ContextCluster, address: ObjectAddress, action: RegistrationStep['action']): RegistrationStep {
    const step = { cluster: name, object: objectText(address), action };
    this.#done.push(step);
    return step;
  }
}

/** Returns the object as the table shows it: `namespace/muster-system`. */
function objectText({ resource: { kind }, name }: ObjectAddress): string {
  return `${kind.toLowerCase()}/${name}`;
}

/** True if a write has changed nothing besides the records of the server about writes. */
function isSameObject(before: KubernetesObject, after: KubernetesObject): boolean {
  const content = ({ metadata, ...rest }: KubernetesObject) => {
    const { managedFields: _managed, resourceVersion: _version, generation: _generation, ...kept } = metadata;
    return canonicalJson({ ...rest, metadata: kept });
  };
  return content(before) === content(after);
}
