import type { ApiBody, RawAnswer } from '../support/clients/raw-client.ts';
import type { Place } from './place.ts';

/** The query parameters of a patch, by name. Default of `fieldManager`: `muster`. */
type PatchOptions = Readonly<Record<string, string>>;

export interface Patching {
  /** Server-side apply. Text is sent unchanged. */
  apply(path: string, applied: object | string, options?: PatchOptions): Promise<RawAnswer>;
  json(path: string, operations: unknown, options?: PatchOptions): Promise<RawAnswer>;
  merge(path: string, patch: unknown, options?: PatchOptions): Promise<RawAnswer>;
  /** Applies a ConfigMap with this name, data and further metadata. */
  applyData(name: string, data: object, more?: { readonly metadata?: object; readonly options?: PatchOptions }): Promise<RawAnswer>;
}

/** The functions to patch objects in a namespace. */
export function patchingIn({ client, at }: Place): Patching {
  const send =
    (type: string, manager: PatchOptions) =>
    (path: string, body: unknown, options: PatchOptions = {}) => {
      const query = new URLSearchParams({ ...manager, ...options });
      return client.send('PATCH', `${path}?${query}`, { body, headers: { 'content-type': type } });
    };
  const apply = send('application/apply-patch+yaml', { fieldManager: 'muster' });
  return {
    apply,
    json: send('application/json-patch+json', {}),
    merge: send('application/merge-patch+json', {}),
    applyData: (name, data, { metadata = {}, options = {} } = {}) =>
      apply(`${at('configmaps')}/${name}`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data }, options),
  };
}

/** Makes a Deployment as users write it. Default name: `web`. */
export function deploymentOf(spec: object = {}, metadata: object = {}): object {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container()] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', ...metadata },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template, ...spec },
  };
}

export function container(more: object = {}): object {
  return { name: 'web', image: 'web:1', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }], args: ['x', 'y'], ...more };
}

/** Returns the owners of fields: `muster Apply` or `kubectl Update scale`, with the fields of the entry. */
export function ownersIn(object: ApiBody): Readonly<Record<string, unknown>> {
  const { managedFields = [] } = object.metadata as unknown as { readonly managedFields?: readonly ManagedEntry[] };
  return Object.fromEntries(
    managedFields.map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, ...(subresource === undefined ? [] : [subresource])].join(' '),
      fieldsV1,
    ]),
  );
}

interface ManagedEntry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly fieldsV1: unknown;
}

/** Returns the owners that a 409 names: `"other" .data.k`. Empty for a 409 of another type. */
export function conflictsIn(status: ApiBody): readonly string[] {
  const causes = (status.details?.causes ?? []) as readonly { readonly reason: string; readonly message: string; readonly field: string }[];
  return causes.filter(({ reason }) => reason === 'FieldManagerConflict').map(({ message, field }) => `${message}: ${field}`);
}
