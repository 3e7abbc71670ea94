import { answerJson, answerRefusal, type ResourceContext } from './answer-context.ts';
import { acceptedShape } from './media-type.ts';
import { type StoredObject, wireText } from './stored-object.ts';

export interface ObjectAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one object in the form asked for. */
export function answerObject(context: ResourceContext, stored: StoredObject, { status = 200, headers = {} }: ObjectAnswer = {}): void {
  const { storage, resource } = context.asked;
  const shape = acceptedShape(context.request.headers.accept, storage.kind, 'object');
  if (typeof shape === 'string') answerJson(context, status, wireText(storage.kind, stored, { shape, version: resource.version }), headers);
  else answerRefusal(context, shape);
}
