/**
 * What may stand at a place of a document, as data: for who translates a document, or compares it with the definition of the resource.
 */
export type Shape =
  /** Without a format any text. */
  | { readonly type: 'text'; readonly format: TextFormat | undefined }
  | { readonly type: 'flag' }
  | { readonly type: 'integer'; readonly min: number; readonly max: number }
  /** An integer of at least `min`, or a percentage. */
  | { readonly type: 'amount'; readonly min: number }
  /** `spelling`: whether the schema spells the values in capitals, or as they are. */
  | { readonly type: 'choice'; readonly values: readonly string[]; readonly spelling: 'capitals' | 'same' }
  /** A LabelSelector; in the schema its text. */
  | { readonly type: 'selector' }
  /** Texts by keys. */
  | { readonly type: 'map' }
  /** Lists of texts by keys. */
  | { readonly type: 'lists' }
  /** Any object, and any value: as they are. */
  | { readonly type: 'object' }
  | { readonly type: 'json' }
  | { readonly type: 'list'; readonly of: Shape; readonly min: number; readonly max: number }
  | { readonly type: 'record'; readonly fields: Readonly<Record<string, ShapeField>> };

/** One member of a record. */
export interface ShapeField {
  readonly shape: Shape;
  /** `defaulted`: what stands for its absence is in the value alone, never in the document. */
  readonly presence: 'required' | 'optional' | 'defaulted';
}

/** Which texts: `key` of labels and annotations, `name` of parts of a spec, `manifests` as YAML. */
export type TextFormat = 'duration' | 'time' | 'pointer' | 'key' | 'name' | 'cluster' | 'manifests';
