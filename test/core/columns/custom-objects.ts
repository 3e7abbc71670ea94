import type { JsonObject } from '../../../src/core/json.ts';

const column = (name: string, type: string, jsonPath: string, more: JsonObject = {}) => ({ name, type, jsonPath, ...more });

/** The definition of Gadgets. Each column has another type or path. */
export const customDefinition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        additionalPrinterColumns: [
          column('Ready', 'string', '.status.conditions[?(@.type=="Ready")].status'),
          column('Absent', 'string', ".status.conditions[?(@.type=='Nothing')].status"),
          column('More', 'string', '.spec.items[?(@.amount>1)].name'),
          column('Truth', 'string', '.spec.items[?(@.flag==true)].name'),
          column('Has', 'string', '.spec.items[?(@.flag)].name'),
          column('Any', 'string', '.spec.items[*].name'),
          column('First', 'string', '.spec.items[0].name'),
          column('Last', 'string', '.spec.items[-1].name'),
          column('Slice', 'string', '.spec.items[1:].name'),
          column('Union', 'string', '.spec.items[2,0].name'),
          column('Far', 'string', '.spec.items[9].name'),
          column('Map', 'string', '.spec.map'),
          column('Escaped', 'string', '.metadata.annotations.a\\.b/c'),
          column('Quoted', 'string', ".metadata.annotations['a\\.b/c']"),
          column('Path in quotes', 'string', ".spec['map.b']"),
          column('Dot in quotes', 'string', ".metadata.annotations['a.b/c']"),
          column('Slice past the end', 'string', '.spec.items[1:9].name'),
          column('Slice to the last', 'string', '.spec.items[0:-1].name'),
          column('Slice of nothing', 'string', '.spec.items[3:].name'),
          column('Element of a map', 'string', '.spec.map[0]'),
          column('Elements of a map', 'string', '.spec.map[*]'),
          column('Mixed types', 'string', '.spec.mixed[?(@.value>1)].name'),
          column('Mixed numbers', 'string', '.spec.mixed[?(@.number>=1)].name'),
          column('Mixed map', 'string', '.spec.mixed'),
          column('Large', 'number', '.spec.large'),
          column('Text of large', 'string', '.spec.large'),
          column('Huge', 'number', '.spec.huge'),
          column('Text of huge', 'string', '.spec.huge'),
          column('Int', 'integer', '.spec.int'),
          column('Int of text', 'integer', '.spec.text'),
          column('Int of number', 'integer', '.spec.number'),
          column('Number', 'number', '.spec.number'),
          column('Text of number', 'string', '.spec.number'),
          column('Bool', 'boolean', '.spec.bool'),
          column('Bool of text', 'boolean', '.spec.text'),
          column('Text', 'string', '.spec.text'),
          column('Text of int', 'string', '.spec.int'),
          column('Text of bool', 'string', '.spec.bool'),
          column('Date', 'date', '.spec.date'),
          column('No date', 'date', '.spec.text'),
          column('Nothing', 'string', '.spec.nothing'),
          column('Lines', 'string', '.spec.lines'),
          column('Extra', 'string', '.spec.text', { priority: 1 }),
          column('Age', 'date', '.metadata.creationTimestamp'),
        ],
      },
    ],
  },
};

const gadget = (name: string, more: JsonObject, annotations: JsonObject = {}): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Gadget',
  metadata: { name, annotations },
  ...more,
});

/** Gadgets with and without the values of their columns. */
export const customObjects: readonly JsonObject[] = [
  gadget('bare', {}),
  gadget('small', { spec: { number: 0.0000125, int: 1 } }),
  gadget('large', {
    spec: {
      large: 1000000.5,
      huge: 2 ** 53,
      mixed: [
        { value: '<&>', name: 'a' },
        { value: 2, name: 'b' },
      ],
    },
  }),
  gadget('larger', {
    spec: {
      large: 1e21,
      huge: 1e300,
      mixed: [
        { number: 2, name: 'a' },
        { number: 2.5, name: 'b' },
      ],
    },
  }),
  gadget('whole', {
    spec: {
      large: 2500000,
      huge: -123456789.25,
      mixed: [
        { number: 0, value: 2, name: 'a' },
        { number: 1, name: 'b' },
      ],
    },
  }),
  gadget('empty', { spec: { items: [], map: {}, number: -0.5, int: 123456789012, nothing: null } }),
  gadget(
    'full',
    {
      spec: {
        items: [{ name: 'a', amount: 1 }, { name: 'b', amount: 2, flag: true }, { name: 'c' }],
        map: { b: 1, a: ['x', { y: 'z' }] },
        int: 7,
        number: 1.5,
        bool: false,
        text: 'some text',
        date: '2026-01-01T00:00:00Z',
        lines: 'first\nsecond',
      },
      status: {
        conditions: [
          { type: 'Other', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
      },
    },
    { 'a.b/c': 'annotated' },
  ),
];
