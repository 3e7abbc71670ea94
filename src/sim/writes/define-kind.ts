import type { KubernetesObject } from '../../core/objects.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import type { SimObject } from '../kinds/sim-object.ts';
import type { SimServer } from '../requests/sim-server.ts';
import { applyDefinition, customKindOf, withdrawDefinition } from '../state/custom-definition.ts';
import type { KindStorage } from '../state/kind-storage.ts';
import type { WriteOptions } from '../state/object-writes.ts';

/** Stores a CustomResourceDefinition and serves its kind. Watches of the kind end if its form changes, as in a real server. */
export function defineKind(server: SimServer, definition: KubernetesObject, options: WriteOptions): SimObject {
  const kind = customKindOf(definition);
  const before = kind === undefined ? undefined : server.state.storage(kind.group, kind.resource);
  const was = before?.kind;
  const stored = applyDefinition(server.state, definition, options);
  if (before !== undefined && JSON.stringify(formOf(was)) !== JSON.stringify(formOf(before.kind))) endWatches(server, before);
  return stored;
}

/** Deletes a definition and all objects of its kind. The watches of the kind end after they have sent the deletions. */
export function withdrawKind(server: SimServer, definition: SimObject): void {
  withdrawDefinition(server.state, definition);
  for (const stream of [...server.watches]) if (!server.state.isServed(stream.storage)) stream.end();
}

/** Returns the parts of a kind that are visible in answers, without schemas and scale. */
function formOf(kind: SimKind | undefined): object {
  const { schemas: _schemas, scale: _scale, ...form } = kind ?? { schemas: {} };
  return form;
}

function endWatches(server: SimServer, storage: KindStorage): void {
  for (const stream of [...server.watches]) if (stream.storage === storage) stream.end();
}
