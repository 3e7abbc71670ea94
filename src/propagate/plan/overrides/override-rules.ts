import type { PatchAdapter } from '../../../manifests/json-patch.ts';
import type { Manifest } from '../../../manifests/manifest.ts';
import type { FieldOverride, ImageOverride, ListOverride } from '../../model/spec.ts';
import type { ItemEdits } from './edits.ts';
import { overrideField } from './override-fields.ts';
import { overrideImage } from './override-image.ts';
import { overrideList } from './override-list.ts';

/** The items of an override whose effect differs between Muster and the systems that `exact` can name. */
export interface OverrideRules {
  readonly image: (object: Manifest, item: ImageOverride) => ItemEdits;
  readonly list: (object: Manifest, field: 'command' | 'args', item: ListOverride) => ItemEdits;
  readonly field: (object: Manifest, item: FieldOverride) => ItemEdits;
  /** Changes the operations of `jsonPatch` before they apply. Default: they apply as RFC 6902 describes them. */
  readonly adaptPatch?: PatchAdapter;
  /** True: an override may change apiVersion, for clusters that serve different versions. Default: false. */
  readonly mayChangeVersion?: true;
}

/** The rules of Muster itself. */
export const musterOverrideRules: OverrideRules = { image: overrideImage, list: overrideList, field: overrideField };
