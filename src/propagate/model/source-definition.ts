import type { z } from 'zod';
import { checkedSchema, listSchema, structureSchema } from '../../core/json/documents.ts';
import { anyJson, clusterText, describedEnum, graphqlHints, text } from '../../core/json/field-definitions.ts';
import { utf8Length } from '../../core/text.ts';
import { recordedNote } from './note-definition.ts';
import { objectKeyFields } from './object-key-definition.ts';

/** A system whose manifests can be imported. */
export const sourceSystem = describedEnum('SourceSystem', 'A system whose manifests can be imported.', {
  Karmada: 'Karmada: policies of the API group policy.karmada.io.',
  Kubefed: 'KubeFed: federated kinds and ReplicaSchedulingPreferences.',
  FederationV1: 'Kubernetes Federation v1: annotations with preferences of the API group federation.kubernetes.io.',
  MultiClusterResource: 'The operator of MultiClusterResources of the API group mulitcluster.practice.com.',
});

/** The purpose of a document for a Propagation. */
const documentRole = describedEnum('DocumentRole', 'The purpose of a document for a Propagation.', {
  Template: 'The resource itself, or its federated form.',
  Placement: 'The choice of clusters.',
  Override: 'Differences between clusters.',
  Scheduling: 'The division of replicas.',
  Other: 'None of these.',
});

/** The maximum size of `exact.policies` and of `source`, in bytes of JSON. A resource on the hub has at most 1.5 MiB. */
const maxBytes = 512 * 1024;

function withMaxBytes<S extends z.ZodType>(schema: S): S {
  return checkedSchema(schema, (value, report) => {
    const bytes = utf8Length(JSON.stringify(value));
    if (bytes > maxBytes) report(`expected at most ${maxBytes} bytes of JSON, got ${bytes}`);
  });
}

/** `exact` of a spec: the system whose rules the planner follows, and the facts that these rules need. */
export const exact = structureSchema({
  system: sourceSystem.describe('The system whose rules the planner follows.'),
  uid: text(253)
    .exactOptional()
    .describe('`metadata.uid` of the imported object in the source system. Karmada decides ties between clusters with it.'),
  key: text(507)
    .exactOptional()
    .describe(
      'The namespace and the name of the resource in the source system, as `namespace/name`. KubeFed and Federation v1 decide ties with it. ' +
        'Default: the namespace and the name of the workload in the template.',
    ),
  policies: withMaxBytes(anyJson)
    .exactOptional()
    .describe('Rules of the source system that no other field of the spec can hold, as JSON of at most 512 KiB.'),
})
  .register(graphqlHints, { name: 'ExactInput' })
  .describe('The planner follows the rules of another system, also where they differ from those of Muster.');

const sourceObject = structureSchema({
  ...objectKeyFields,
  role: documentRole
    .exactOptional()
    .describe('The purpose of the object for the Propagation.')
    .register(graphqlHints, { isSpelledSame: true }),
}).describe('An object of the source system.');

/** `source` of a spec: the origin of an imported Propagation. It has no effect on plans. Has at most 512 KiB of JSON. */
export const source = withMaxBytes(
  structureSchema({
    system: sourceSystem.describe('The system that the Propagation was imported from.').register(graphqlHints, { isSpelledSame: true }),
    cluster: clusterText.exactOptional().describe('The cluster that the objects were read from. Not set if they came from a text.'),
    objects: listSchema(sourceObject, { max: 1_000 })
      .default([])
      .describe('The objects of the source system that the Propagation was made from.'),
    notes: listSchema(recordedNote, { max: 1_000 }).default([]).describe('The differences between the objects and the Propagation.'),
  })
    .register(graphqlHints, { scalar: 'JSON' })
    .describe('The origin of an imported Propagation.'),
);
