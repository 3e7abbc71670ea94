import type { Json, JsonObject } from '../../core/json.ts';

/** One object of a file. */
export interface ParsedManifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string };
}

/** One Propagation of a file. `input` is the GraphQL input. */
export interface ParsedIntent {
  readonly namespace: string;
  readonly name: string;
  readonly input: Json;
}

/** A `PropagationInput` that the gateway has made from manifests of another system. */
export interface ImportedInput extends JsonObject {
  readonly namespace: string;
  readonly name: string;
}

/**
 * All objects of a text, or the reason why the text is invalid. `path` is the path of the invalid field. If the text has several
 * documents, the path begins with the index of the document: `[2]` for the third one.
 */
type ManifestsRead =
  | { readonly result: 'read'; readonly manifests: readonly ParsedManifest[] }
  | { readonly result: 'refused'; readonly path: string; readonly message: string };

/** All Propagations of a text, or the problems of its documents. */
type IntentsRead =
  | { readonly result: 'read'; readonly intents: readonly ParsedIntent[] }
  | {
      readonly result: 'refused';
      readonly problems: readonly { readonly document: string; readonly path: string; readonly message: string }[];
    };

/** The YAML or JSON documents of a text, or the reason why it is invalid. */
type DocumentsRead =
  | { readonly result: 'read'; readonly documents: readonly Json[] }
  | { readonly result: 'refused'; readonly message: string };

/** Parses texts as kubectl does. `main.ts` passes it in, because this folder may not import the definition of a Propagation. */
export interface ManifestReader {
  documents(text: string): Promise<DocumentsRead>;
  manifests(text: string): Promise<ManifestsRead>;
  /**
   * Parses the Propagations of a text.
   *
   * @param options The namespace of `-n`, for all Propagations. Undefined: the namespace in each document, else `default`.
   */
  intents(text: string, options: { readonly namespace: string | undefined }): Promise<IntentsRead>;
  /** Returns a GraphQL input as a resource of the hub, with apiVersion, kind, metadata and spec. */
  resource(input: ImportedInput): Promise<JsonObject>;
}
