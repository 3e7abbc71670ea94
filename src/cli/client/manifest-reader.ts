import type { Json, JsonObject } from '../../core/json.ts';

/** One object as it stands in a file. */
export interface ParsedManifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string };
}

/** One Propagation as it stands in a file: `input` is what the graph takes. */
export interface ParsedIntent {
  readonly namespace: string;
  readonly name: string;
  readonly input: Json;
}

/** All objects of a text, or why it was not understood: `path` is of the field, below `[2]` for the third of several documents. */
type ManifestsRead =
  | { readonly result: 'read'; readonly manifests: readonly ParsedManifest[] }
  | { readonly result: 'refused'; readonly path: string; readonly message: string };

/** All Propagations of a text, or what is wrong with which of its documents. */
type IntentsRead =
  | { readonly result: 'read'; readonly intents: readonly ParsedIntent[] }
  | {
      readonly result: 'refused';
      readonly problems: readonly { readonly document: string; readonly path: string; readonly message: string }[];
    };

/** The YAML or JSON documents of a text, or why it was not understood. */
type DocumentsRead =
  | { readonly result: 'read'; readonly documents: readonly Json[] }
  | { readonly result: 'refused'; readonly message: string };

/** Reads texts as kubectl does. The process lends it: what a Propagation is made of, this folder does not know. */
export interface ManifestReader {
  documents(text: string): Promise<DocumentsRead>;
  manifests(text: string): Promise<ManifestsRead>;
  /** @param options Where all of them stand, if it was said. */
  intents(text: string, options: { readonly namespace: string | undefined }): Promise<IntentsRead>;
}
