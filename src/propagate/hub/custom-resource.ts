import { z } from 'zod';
import { innermostSchemaOf, schemaDefaultOf } from '../../core/json/documents.ts';
import { meanings } from '../../core/json/field-definitions.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { musterGroup, musterVersion } from '../model/propagation.ts';

/** A kind of resource that Muster keeps on the hub. */
export interface CustomResource {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Default: `Namespaced`. */
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly columns: readonly PrinterColumn[];
  /** The definition of all members except `apiVersion`, `kind` and `metadata`. Its description is the description of the kind. */
  readonly content: z.ZodType;
  /** True: `status` is a subresource, so it is written separately from the other members. */
  readonly hasStatus: boolean;
}

interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** 1: the column is shown only with `kubectl get -o wide`. Default: always shown. */
  readonly priority?: number;
}

/** Returns the CustomResourceDefinition of a kind, for `kubectl apply`. */
export function customResourceDefinitionOf({ kind, plural, shortNames, categories, scope, columns, content, hasStatus }: CustomResource) {
  // The API server drops an empty list, and a second server-side apply of it would be a conflict.
  const short = shortNames.length === 0 ? {} : { shortNames };
  const { description, properties, ...schema } = structuralSchemaOf(content);
  const own = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } };
  const openAPIV3Schema: JsonObject = { description, ...schema, properties: { ...own, ...(properties as JsonObject) } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${musterGroup}` },
    spec: {
      group: musterGroup,
      scope: scope ?? 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), ...short, categories },
      versions: [
        {
          name: musterVersion,
          served: true,
          storage: true,
          ...(hasStatus ? { subresources: { status: {} } } : {}),
          additionalPrinterColumns: columns.map((column) => ({ ...column })),
          schema: { openAPIV3Schema },
        },
      ],
    },
  } satisfies JsonObject;
}

/**
 * Returns the structural schema of a definition, for a CustomResourceDefinition. It has the fields as users write them, before the gateway
 * parses them. Defaults appear only in descriptions, because the gateway and not the API server fills them in.
 */
export function structuralSchemaOf(schema: z.ZodType): JsonObject {
  const written = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      // zod sets `readOnly` for a value that is frozen after reading. To an API server, `readOnly` means a member that clients may not
      // write.
      delete jsonSchema.readOnly;
      if (jsonSchema.pattern !== undefined) jsonSchema.pattern = jsonSchema.pattern.replaceAll('\\/', '/');
    },
  });
  return structural(written as JsonObject, schema);
}

function structural(written: JsonObject, schema: z.core.$ZodType): JsonObject {
  const { def } = innermostSchemaOf(schema)._zod;
  const { description, type, default: _, additionalProperties, ...rest } = written;
  const described = [description, ...meaningsOf(schema)].filter((text) => text !== undefined).join(' ');
  const common: JsonObject = { ...(described === '' ? {} : { description: described }), ...(type === undefined ? {} : { type }), ...rest };
  switch (def.type) {
    case 'object': {
      const properties = written.properties as Readonly<Record<string, JsonObject>>;
      const entries = Object.entries(def.shape).map(([name, field]) => [name, structural(properties[name] ?? {}, field)] as const);
      return { ...common, properties: Object.fromEntries(entries) };
    }
    case 'array':
      return { ...common, 'x-kubernetes-list-type': 'atomic', items: structural(written.items as JsonObject, def.element) };
    case 'record': {
      const { propertyNames: _names, ...map } = common;
      return { ...map, additionalProperties };
    }
    case 'number':
      return { ...common, format: common.type === 'integer' ? 'int64' : 'double' };
    default:
      return common;
  }
}

/** Returns sentences for the description: the meaning of each value of an enum, then the default. */
function meaningsOf(schema: z.core.$ZodType): readonly string[] {
  const values = meanings.get(innermostSchemaOf(schema)) ?? {};
  const fallback = schemaDefaultOf(schema);
  const isShown = fallback !== undefined && (typeof fallback !== 'object' || fallback === null);
  return [
    ...Object.entries(values).map(([name, meaning]) => `${name}: ${meaning}`),
    ...(isShown ? [`Default: ${shownDefault(fallback)}.`] : []),
  ];
}

function shownDefault(fallback: Json): string {
  return typeof fallback === 'string' ? fallback : JSON.stringify(fallback);
}
