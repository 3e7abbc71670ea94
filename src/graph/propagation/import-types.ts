import { boundedList } from '../../core/bounded-list.ts';
import { schemaSpelling } from '../../core/json/enum-spelling.ts';
import type { ImportedDocument, ImportedPropagation, ImportNote, ImportResult } from '../../importers/model/import-result.ts';
import type { ObjectKey } from '../../manifests/manifest.ts';
import { kindByAnyName } from '../../model/any-name.ts';
import { sourceSystem } from '../../propagate/model/source-definition.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import { enumsOf, type ObjectRefOf } from '../builder/pothos.ts';
import { chargeTexts, resolveChargedList } from '../context/budget.ts';
import type { DefinedTypes } from './defined-types.ts';
import type { NoteView } from './plan-types.ts';

interface ImportTypes {
  readonly objectKey: ObjectRefOf<ObjectKey>;
  readonly defined: DefinedTypes;
  readonly note: ObjectRefOf<NoteView>;
}

const exactDescription =
  'True: the Propagations do exactly what the other system did, with the same replicas and the same quirks. False: they have the ' +
  'semantics of Muster, and notes name the differences.';

/** Adds the queries that translate manifests of other systems to Propagations. */
export function addImports(builder: GraphBuilder, using: ImportTypes): void {
  const result = addResult(builder, using);
  const { pothos, model } = builder;
  pothos.queryFields((t) => ({
    importManifests: t.field({
      type: result,
      nullable: false,
      description:
        'Translates manifests of Karmada, KubeFed, Federation v1 or MultiClusterResources to intents for `propagate`. Writes nothing. ' +
        'If the text is no YAML, the request fails with the line of the mistake, and nothing is translated.',
      args: {
        yaml: t.arg.string({
          required: true,
          description: 'The manifests as YAML or JSON: the policies of the other system and the resources that they select.',
        }),
        exact: t.arg.boolean({
          defaultValue: false,
          description: exactDescription,
        }),
      },
      resolve: (_root, { yaml, exact }, { imports, read }) => imports.importManifests(read, { yaml, exact: exact === true }),
    }),
    importFromCluster: t.field({
      type: result,
      nullable: false,
      description:
        'Translates the objects of KubeFed, Karmada and MultiClusterResources that live in a cluster to intents for `propagate`, so that Muster ' +
        'takes over the existing copies. Reads the objects live, and writes nothing.',
      args: {
        cluster: t.arg.string({
          required: true,
          description: 'The name of the cluster that the other system runs in. For Karmada, it is the API server of Karmada.',
        }),
        kinds: t.arg.stringList({
          description:
            'Only propagated objects of these kinds, by any of their names, such as `deploy` or `ConfigMap`. Default: all kinds.',
        }),
        namespaces: t.arg.stringList({ description: 'Only source objects in these namespaces. Default: all namespaces.' }),
        exact: t.arg.boolean({ defaultValue: false, description: exactDescription }),
      },
      resolve: (_root, { cluster, kinds, namespaces, exact }, { imports, read }) =>
        imports.importFromCluster(read, {
          cluster,
          kinds: boundedList('kinds', kinds)?.map((name) => kindByAnyName(model, name)),
          namespaces: boundedList('namespaces', namespaces) ?? undefined,
          exact: exact === true,
        }),
    }),
  }));
}

function addResult(builder: GraphBuilder, using: ImportTypes): ObjectRefOf<ImportResult> {
  const { pothos, types } = builder;
  const document = addDocument(builder, using);
  const propagation = addImportedPropagation(builder, { ...using, document });
  return pothos.objectRef<ImportResult>('ImportResult').implement({
    description: 'The manifests of other systems as Propagations. Every document is in `documents` of a Propagation or in `unread`.',
    fields: (t) => ({
      propagations: t.field({
        type: [propagation],
        nullable: false,
        description: 'One Propagation for each resource, in the order of the resources in the input.',
        resolve: resolveChargedList('propagations'),
      }),
      unread: t.field({
        type: [document],
        nullable: false,
        description: 'The documents from which no Propagation was made, in the order of the input. For each, an entry of `notes` says why.',
        resolve: ({ unread }, _args, context) => chargeTexts(unread, textOfDocument, context),
      }),
      notes: t.field({
        type: [using.note],
        nullable: false,
        description:
          'The notes that belong to no single Propagation. A note with severity `ERROR` names a document that was not translated.',
        resolve: ({ notes }, _args, context) => chargeTexts(notes, textOfNote, context),
      }),
      faults: t.field({
        type: [types.fault],
        nullable: false,
        description: 'The reasons why objects could not be read from a cluster. The result has all other objects.',
        resolve: resolveChargedList('faults'),
      }),
    }),
  });
}

function addImportedPropagation(
  { pothos }: GraphBuilder,
  { defined, note, document }: ImportTypes & { readonly document: ObjectRefOf<ImportedDocument> },
): ObjectRefOf<ImportedPropagation> {
  return pothos.objectRef<ImportedPropagation>('ImportedPropagation').implement({
    description: 'A Propagation for one resource of another system.',
    fields: (t) => ({
      system: t.field({
        type: defined.enum(sourceSystem),
        nullable: false,
        description: 'The system that the resource comes from.',
        resolve: ({ system }) => schemaSpelling(system),
      }),
      input: t.field({
        type: 'JSON',
        nullable: false,
        description: 'The intent: a `PropagationInput` for `planPropagation` and `propagate`.',
        resolve: ({ input }) => input ?? {},
      }),
      documents: t.field({
        type: [document],
        nullable: false,
        description: 'The documents that the Propagation was made from, in the order of the input.',
        resolve: ({ documents }, _args, context) => chargeTexts(documents, textOfDocument, context),
      }),
      notes: t.field({
        type: [note],
        nullable: false,
        description:
          'The differences between the other system and this Propagation. At most 100 notes, and one with code `MORE_NOTES` for all others.',
        resolve: ({ notes }, _args, context) => chargeTexts(notes, textOfNote, context),
      }),
    }),
  });
}

// The budget of an answer counts each Propagation as one object. Its documents and notes are charged by the length of their texts, because a
// large import has several of them for each resource.

function textOfDocument({ key, role }: ImportedDocument): string {
  return key === undefined ? role : `${key.apiVersion} ${key.kind} ${key.namespace ?? ''} ${key.name} ${role}`;
}

function textOfNote({ code, path = '', message }: ImportNote): string {
  return `${code} ${path} ${message}`;
}

function addDocument({ pothos }: GraphBuilder, { objectKey }: ImportTypes): ObjectRefOf<ImportedDocument> {
  const role = enumsOf(pothos)('DocumentRole', 'The meaning of a document for a Propagation.', {
    TEMPLATE: 'The document is the resource itself, or has the resource as its template.',
    PLACEMENT: 'The document chooses the clusters.',
    OVERRIDE: 'The document sets the differences between clusters.',
    SCHEDULING: 'The document divides the replicas among the clusters.',
    OTHER: 'The document is part of no Propagation.',
  });
  return pothos.objectRef<ImportedDocument>('ImportedDocument').implement({
    description: 'One document of the imported manifests.',
    fields: (t) => ({
      index: t.exposeInt('index', {
        nullable: false,
        description:
          'The index of the document, from 0. Empty documents are not counted. The items of a list have the index of their list.',
      }),
      key: t.field({
        type: objectKey,
        description: 'The identity of the object. Null if the document is no object.',
        resolve: (document) => document.key,
      }),
      role: t.field({
        type: role,
        nullable: false,
        description: 'The meaning of the document for the Propagation.',
        resolve: (document) => document.role,
      }),
    }),
  });
}
