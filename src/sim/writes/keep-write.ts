import type { KubernetesObject } from '../../core/objects.ts';
import { parsed, type StoredObject, storedOf } from '../kinds/stored-object.ts';
import { answerObject } from '../requests/send-answer.ts';
import type { ResourceContext, WriteDone } from '../requests/sim-server.ts';
import { isDefinitions } from '../state/custom-definition.ts';
import { settle } from '../state/deletion.ts';
import { createObject, newObject, nextObject, replaceObject, type WriteOptions } from '../state/object-writes.ts';
import { warningHeader } from './decode-object.ts';
import { defineKind } from './define-kind.ts';
import type { WriteRequest } from './write-options.ts';

/** A write that was admitted. */
export interface AdmittedWrite {
  readonly request: WriteRequest;
  readonly object: KubernetesObject;
  readonly warnings: readonly string[];
  readonly options?: Pick<WriteOptions, 'subresource' | 'managedFields'>;
}

export interface AdmittedChange extends AdmittedWrite {
  readonly before: StoredObject;
  /** How it is answered: the object by default. */
  readonly answer?: (stored: StoredObject) => void;
}

/** Creates the object, or only says what it would be, and answers. */
export async function keepCreated(context: ResourceContext, write: AdmittedWrite): Promise<void> {
  const { storage } = context.asked;
  const { state } = context.server;
  const options = optionsOf(context, write);
  const { isDry } = write.request;
  const stored = isDry
    ? storedOf(storage.kind, newObject(state, storage.kind, write.object, options), 0)
    : isDefinitions(storage)
      ? defineKind(context.server, write.object, options)
      : createObject(state, storage, write.object, options);
  await answerDone(context, { result: 'created', object: stored }, () =>
    answerObject(context, stored, { status: 201, headers: warningHeader(write.warnings) }),
  );
}

/** Makes this of the object that is there, or only says what it would be, and answers. */
export async function keepChanged(context: ResourceContext, write: AdmittedChange): Promise<void> {
  const { before, answer = (stored) => answerObject(context, stored, { headers: warningHeader(write.warnings) }) } = write;
  const done = write.request.isDry ? triedChange(context, write) : doneChange(context, write);
  await answerDone(context, { ...done, result: done.object === before ? 'unchanged' : done.result }, () => answer(done.object));
}

function triedChange(context: ResourceContext, { before, object, ...write }: AdmittedChange): WriteDone {
  const { kind } = context.asked.storage;
  const next = nextObject(context.server.state, kind, { ...optionsOf(context, write), before, object });
  return { result: 'changed', object: next === undefined ? before : storedOf(kind, next, before.revision) };
}

function doneChange(context: ResourceContext, { before, object, ...write }: AdmittedChange): WriteDone {
  const { storage } = context.asked;
  const { state } = context.server;
  // Who takes the last finalizer of what is being deleted deletes it: no change is told before.
  if (before.terminating && object.metadata.finalizers === undefined && settle(state, storage, before)) {
    const metadata = { ...withoutFinalizers(parsed(storage.kind, before)), ...object.metadata };
    return { result: 'deleted', object: storedOf(storage.kind, { ...object, metadata }, before.revision) };
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

/** Answers the write, unless the hook loses the answer. */
export async function answerDone(context: ResourceContext, done: WriteDone, answer: () => void): Promise<void> {
  if ((await context.server.hooks.onWrite?.(context, done)) === 'lost') context.outlet.reset();
  else answer();
}

function optionsOf({ asked }: ResourceContext, { request, options = {} }: Pick<AdmittedWrite, 'request' | 'options'>): WriteOptions {
  const { storage, resource } = asked;
  // What is no version of its own, a custom resource's schemas tell.
  const version = storage.kind.versions.includes(resource.version) ? { version: resource.version } : {};
  return { manager: request.manager, ...version, ...options };
}
