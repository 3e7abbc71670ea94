import { type ApiRefusal, apiRefusal } from '../kinds/api-status.ts';
import type { SimKind } from '../kinds/built-in-kinds.ts';
import type { WireShape } from '../kinds/sim-object.ts';

const representations = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

/** Returns the form of an answer for an Accept header: the first supported one, as a real server chooses. Tables are not supported. */
export function acceptedShape(accept: string | undefined, kind: SimKind, answer: 'object' | 'list' | 'watch'): WireShape | ApiRefusal {
  const whole: WireShape = answer === 'list' ? 'item' : 'object';
  if (accept === undefined || accept.trim() === '') return whole;
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3);
    if (as === undefined || as === '') return whole;
    const wanted = answer === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
    if (as === wanted) return 'metadata';
    if (as === 'PartialObjectMetadata')
      return apiRefusal(406, `you requested PartialObjectMetadata, but the requested object is a list (*core.${kind.listKind})`);
    if (as === 'PartialObjectMetadataList')
      return apiRefusal(406, `you requested PartialObjectMetadataList, but the requested object is not a list (*core.${kind.kind})`);
  }
  return { ...apiRefusal(406, `406: Not Acceptable\n\nAvailable representations: ${representations}`), details: {} };
}

/** True if the Content-Type says JSON, is absent, or is any type: the body is then read as JSON. */
export function isJsonType(contentType: string | undefined): boolean {
  const type = contentType?.split(';')[0]?.trim() ?? '';
  return type === '' || type === 'application/json' || type === '*/*';
}

/** The answer 415 to a body of another type. */
export const unreadableBody: ApiRefusal = apiRefusal(
  415,
  `the body of the request was in an unknown format - accepted media types include: ${representations}`,
);

/** True if the Accept header contains aggregated discovery. */
export function wantsAggregated(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) =>
    ['g=apidiscovery.k8s.io', 'v=v2', 'as=APIGroupDiscoveryList'].every((part) =>
      range
        .split(';')
        .map((one) => one.trim())
        .includes(part),
    ),
  );
}
