import { structureSchema } from '../../../core/json/documents.ts';
import { anyJson, textEnum } from '../../../core/json/field-definitions.ts';
import { clusterAffinity, policyList, policyMetadata, policyText, resourceSelector, textList, textMap } from './field-definitions.ts';

const operator = textEnum(['add', 'remove', 'replace']);

/**
 * An entry of `commandOverrider` or `argsOverrider`. Karmada's definition refuses the operator `replace`, and its controller ignores it.
 * The importer accepts it, with a note.
 */
const commandOverrider = structureSchema({ containerName: policyText, operator, value: textList.exactOptional() });

const mapOverrider = structureSchema({ operator, value: textMap });

const fieldPatches = policyList(structureSchema({ subPath: policyText, operator, value: anyJson.exactOptional() }));

const overriders = structureSchema({
  plaintext: policyList(structureSchema({ path: policyText, operator, value: anyJson.exactOptional() })).exactOptional(),
  imageOverrider: policyList(
    structureSchema({
      predicate: structureSchema({ path: policyText }).exactOptional(),
      component: textEnum(['Registry', 'Repository', 'Tag']),
      operator,
      value: policyText.exactOptional(),
    }),
  ).exactOptional(),
  commandOverrider: policyList(commandOverrider).exactOptional(),
  argsOverrider: policyList(commandOverrider).exactOptional(),
  labelsOverrider: policyList(mapOverrider).exactOptional(),
  annotationsOverrider: policyList(mapOverrider).exactOptional(),
  fieldOverrider: policyList(
    structureSchema({ fieldPath: policyText, json: fieldPatches.exactOptional(), yaml: fieldPatches.exactOptional() }),
  ).exactOptional(),
});

/** An OverridePolicy or ClusterOverridePolicy with all fields of its definition (policy.karmada.io/v1alpha1). */
export const overridePolicy = structureSchema({
  apiVersion: policyText,
  kind: policyText,
  metadata: policyMetadata,
  spec: structureSchema({
    resourceSelectors: policyList(resourceSelector).exactOptional(),
    overrideRules: policyList(structureSchema({ targetCluster: clusterAffinity.exactOptional(), overriders })).exactOptional(),
    targetCluster: clusterAffinity.exactOptional(),
    overriders: overriders.exactOptional(),
  }),
});
