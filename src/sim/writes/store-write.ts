import type { KubernetesObject } from '../../core/objects.ts';
import { parseSimObject, type SimObject, simObjectOf } from '../kinds/sim-object.ts';
import { answerObject } from '../requests/send-answer.ts';
import type { CompletedWrite, ResourceContext } from '../requests/sim-server.ts';
import { isDefinitions } from '../state/custom-definition.ts';
import { finishDeletion } from '../state/deletion.ts';
import { createObject, newObject, nextObject, replaceObject, type WriteOptions } from '../state/object-writes.ts';
import { warningHeader } from './decode-object.ts';
import { defineKind } from './define-kind.ts';
import type { WriteRequest } from './write-options.ts';

/** A write that passed admission. */
export interface AdmittedWrite {
  readonly request: WriteRequest;
  readonly object: KubernetesObject;
  readonly warnings: readonly string[];
  readonly options?: Pick<WriteOptions, 'subresource' | 'managedFields'>;
}

export interface AdmittedChange extends AdmittedWrite {
  readonly before: SimObject;
  /** Sends the answer. Default: the stored object. */
  readonly answer?: (stored: SimObject) => void;
}

/** Creates the object and answers. A dry run answers without storing. */
export async function storeCreated(context: ResourceContext, write: AdmittedWrite): Promise<void> {
  const { storage } = context.target;
  const { state } = context.server;
  const options = optionsOf(context, write);
  const { isDry } = write.request;
  const stored = isDry
    ? simObjectOf(storage.kind, newObject(state, storage.kind, write.object, options), 0)
    : isDefinitions(storage)
      ? defineKind(context.server, write.object, options)
      : createObject(state, storage, write.object, options);
  await answerWrite(context, { result: 'created', object: stored }, () =>
    answerObject(context, stored, { status: 201, headers: warningHeader(write.warnings) }),
  );
}

/** Replaces the object and answers. A dry run answers without storing. */
export async function storeChanged(context: ResourceContext, write: AdmittedChange): Promise<void> {
  const { before, answer = (stored) => answerObject(context, stored, { headers: warningHeader(write.warnings) }) } = write;
  const done = write.request.isDry ? triedChange(context, write) : doneChange(context, write);
  await answerWrite(context, { ...done, result: done.object === before ? 'unchanged' : done.result }, () => answer(done.object));
}

function triedChange(context: ResourceContext, { before, object, ...write }: AdmittedChange): CompletedWrite {
  const { kind } = context.target.storage;
  const next = nextObject(context.server.state, kind, { ...optionsOf(context, write), before, object });
  return { result: 'changed', object: next === undefined ? before : simObjectOf(kind, next, before.revision) };
}

function doneChange(context: ResourceContext, { before, object, ...write }: AdmittedChange): CompletedWrite {
  const { storage } = context.target;
  const { state } = context.server;
  // Removing the last finalizer of a terminating object deletes it. Watches receive only the deletion, and no change before it.
  if (before.terminating && object.metadata.finalizers === undefined && finishDeletion(state, storage, before)) {
    const metadata = { ...withoutFinalizers(parseSimObject(storage.kind, before)), ...object.metadata };
    return { result: 'deleted', object: simObjectOf(storage.kind, { ...object, metadata }, before.revision) };
  }
  const options = optionsOf(context, write);
  const stored = isDefinitions(storage)
    ? defineKind(context.server, object, options)
    : replaceObject(state, storage, { ...options, before, object });
  return { result: 'changed', object: stored };
}

function withoutFinalizers({ metadata }: KubernetesObject): KubernetesObject['metadata'] {
  const { finalizers: _finalizers, ...rest } = metadata;
  return { ...rest, name: metadata.name };
}

/** Answers the write, unless the hook `onWrite` loses the answer. */
export async function answerWrite(context: ResourceContext, done: CompletedWrite, answer: () => void): Promise<void> {
  if ((await context.server.hooks.onWrite?.(context, done)) === 'lost') context.outlet.reset();
  else answer();
}

function optionsOf({ target }: ResourceContext, { request, options = {} }: Pick<AdmittedWrite, 'request' | 'options'>): WriteOptions {
  const { storage, resource } = target;
  // The requested version may be withdrawn while the body arrives. Then the preferred version is used.
  const version = storage.kind.versions.includes(resource.version) ? { version: resource.version } : {};
  return { manager: request.manager, ...version, ...options };
}
