import { asStandardOperation } from '../../kubefed/kubefed-patch.ts';
import { musterOverrideRules, type OverrideRules } from './override-rules.ts';

/** The rules of KubeFed for `jsonPatch`, the only overrides that it has. `asStandardOperation` gives patches its leniency. */
export const kubeFedOverrideRules: OverrideRules = { ...musterOverrideRules, adaptPatch: asStandardOperation, mayChangeVersion: true };
