import { z } from 'zod';
import { listSchema, structureSchema, typeError } from '../../../core/json/documents.ts';
import { integer, text } from '../../../core/json/field-definitions.ts';

/** Any text of a policy. Karmada has no limit, so this is the API server's limit for all annotations. */
export const policyText = text(262_144);

/** An int32 of a policy. */
export const int32 = integer(-(2 ** 31), 2 ** 31 - 1);

/** An int64 of a policy, limited to the integers that a JavaScript number holds exactly. */
export const int64 = integer(-(2 ** 53) + 1, 2 ** 53 - 1);

/** A list of a policy. The API server limits only the size of the whole object. */
export function policyList<S extends z.core.$ZodType>(of: S, min = 0) {
  return listSchema(of, { min, max: 100_000 });
}

export const textList = policyList(policyText);

export const textMap = z.record(z.string(), z.string(typeError('a text')), typeError('texts by keys')).readonly();

const matchExpressions = policyList(
  structureSchema({ key: policyText, operator: policyText, values: textList.exactOptional() }),
).exactOptional();

/** A LabelSelector as Karmada's definitions check it: without the syntax of its keys and values. */
const uncheckedLabelSelector = structureSchema({ matchLabels: textMap.exactOptional(), matchExpressions });

/** The fields of Karmada's ClusterAffinity. */
export const affinityFields = {
  clusterNames: textList.exactOptional(),
  exclude: textList.exactOptional(),
  labelSelector: uncheckedLabelSelector.exactOptional(),
  fieldSelector: structureSchema({ matchExpressions }).exactOptional(),
};

export const clusterAffinity = structureSchema(affinityFields);

export const resourceSelector = structureSchema({
  apiVersion: policyText,
  kind: policyText,
  namespace: policyText.exactOptional(),
  name: policyText.exactOptional(),
  labelSelector: uncheckedLabelSelector.exactOptional(),
});

/** `metadata` of a policy. The fields that a server fills in are not part of an imported document. */
export const policyMetadata = structureSchema({
  name: policyText,
  namespace: policyText.exactOptional(),
  generateName: policyText.exactOptional(),
  labels: textMap.exactOptional(),
  annotations: textMap.exactOptional(),
  finalizers: textList.exactOptional(),
});
