import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfig,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  responsePathAsArray,
} from 'graphql';
import { ChargedList } from '../../../src/execution/charged-list.ts';
import {
  declareRepeatable,
  keptTextsOf,
  objectResolver,
  repeatableResolverWithInfo,
  storedResolver,
  typeOfValue,
} from '../../../src/execution/known-resolvers.ts';
import { sentUnchanged } from '../../../src/execution/leaf-code.ts';
import { RandomChoice } from './random-choice.ts';
import { keyed, type RandomContext, RandomSource } from './random-values.ts';

const names = ['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'constructor', 'toString', 'length', 'valueOf'];
const typeCount = 5;

/** Makes a schema of random types. Its fields have resolvers of every sort that the compiler knows, and a few that it does not. */
export function randomSchema(random: () => number): GraphQLSchema {
  const choice = new RandomChoice(random);
  const leaves = leafTypes();
  const shared = fieldShapes(choice, names.slice(0, 2));
  const typed: { readonly [name: string]: GraphQLOutputType } = {};
  const outputs = typed as Record<string, GraphQLOutputType>;
  const resolveType = (value: unknown) => (value instanceof RandomSource ? value.typeName : undefined);
  const build = (shapes: readonly FieldShape[], owner: string) =>
    Object.fromEntries(shapes.map((shape) => [shape.name, fieldOf(shape, { leaves, outputs, owner })]));
  const known = choice.chance(0.9) ? typeOfValue : {};
  const node = new GraphQLInterfaceType({ name: 'Node', fields: () => build(shared, 'Node'), resolveType, ...known });
  const objects = Array.from({ length: typeCount }, (_, n) => {
    const own = fieldShapes(choice, names.slice(2));
    const isNode = n < 3;
    return new GraphQLObjectType({
      name: `T${n}`,
      ...(n % 2 === 0 ? keptTextsOf(sourceOfText) : {}),
      interfaces: isNode ? [node] : [],
      fields: () => build(isNode ? [...shared, ...own] : own, `T${n}`),
    });
  });
  const either = new GraphQLUnionType({ name: 'Either', types: objects.slice(2), resolveType, ...typeOfValue });
  for (const type of [node, either, ...objects]) outputs[type.name] = type;
  const roots = ['f0', 'f1', 'f2', 'f3'].map((name): FieldShape => {
    const shape = { ...shapeOf(choice, name), unknown: false };
    // Lists of objects whose texts can be kept, as the lists of the gateway are.
    const isPage = name !== 'f0' && choice.chance(0.6);
    return isPage
      ? { ...shape, named: choice.of(['T0', 'T2', 'T4']), wrappers: ['required', 'list'] }
      : { ...shape, named: `T${choice.below(typeCount)}` };
  });
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: () => build([...roots, ...fieldShapes(choice, ['length', 'f5', 'f6'])], 'Query'),
  });
  return new GraphQLSchema({ query, types: [node, either, ...objects] });
}

/** Random sources never change, so their texts can be kept. */
function sourceOfText(value: unknown) {
  return value instanceof RandomSource ? { object: value, others: [value.typeName] } : undefined;
}

interface FieldShape {
  readonly name: string;
  readonly named: string;
  /** Wrappers from the inside to the outside. */
  readonly wrappers: readonly ('list' | 'required')[];
  readonly resolver: 'default' | 'stored' | 'value' | 'call' | 'info';
  /** True if the resolver is not declared, so that no operation with it is compiled. */
  readonly unknown: boolean;
  readonly hasArguments: boolean;
}

function fieldShapes(choice: RandomChoice, of: readonly string[]): readonly FieldShape[] {
  return of.map((name) => shapeOf(choice, name));
}

function shapeOf(choice: RandomChoice, name: string): FieldShape {
  const named = choice.chance(0.55)
    ? choice.of(['String', 'Int', 'Float', 'Boolean', 'ID', 'Color', 'Any', 'Twice'])
    : choice.of(['T0', 'T1', 'T2', 'T3', 'T4', 'Node', 'Either']);
  const wrappers: ('list' | 'required')[] = [];
  if (choice.chance(0.4)) wrappers.push('required');
  for (let lists = choice.chance(0.3) ? 1 + Number(choice.chance(0.2)) : 0; lists > 0; lists -= 1) {
    wrappers.push('list');
    if (choice.chance(0.5)) wrappers.push('required');
  }
  const resolver = choice.of(['default', 'stored', 'value', 'call', 'call', 'info'] as const);
  return { name, named, wrappers, resolver, unknown: choice.chance(0.01), hasArguments: resolver === 'call' || resolver === 'info' };
}

interface FieldParts {
  readonly leaves: Readonly<Record<string, GraphQLOutputType>>;
  readonly outputs: Readonly<Record<string, GraphQLOutputType>>;
  readonly owner: string;
}

function fieldOf(shape: FieldShape, { leaves, outputs, owner }: FieldParts): GraphQLFieldConfig<unknown, RandomContext> {
  let type = leaves[shape.named] ?? outputs[shape.named];
  if (type === undefined) throw new Error(`no type ${shape.named}`);
  for (const wrapper of shape.wrappers) type = wrapper === 'list' ? new GraphQLList(type) : new GraphQLNonNull(type as WrappedType);
  const args = shape.hasArguments
    ? {
        n: { type: GraphQLInt, default: { value: 3 } },
        of: { type: new GraphQLList(GraphQLString) },
        box: { type: box },
      }
    : {};
  const config = { type, args };
  // Roots have no source, so their values come from the context.
  const sourceOf = (source: unknown, context: RandomContext) => (source instanceof RandomSource ? source : context.root);
  switch (owner === 'Query' && shape.resolver !== 'info' ? 'call' : shape.resolver) {
    case 'default':
      return config;
    case 'value': {
      const resolve = (source: unknown) => keyed(source, shape.name);
      return { ...config, resolve: shape.unknown ? resolve : objectResolver(resolve) };
    }
    case 'stored': {
      const fits = fitOf(shape);
      const resolve = (source: unknown, _args: unknown, context: RandomContext) => {
        const { stored } = source as RandomSource;
        const value = Object.hasOwn(stored, shape.name) ? stored[shape.name] : undefined;
        if (value === undefined || value === null || fits(value)) return value;
        return context.misfit();
      };
      return { ...config, resolve: storedResolver({ path: ['stored'], key: shape.name, fit: inlineFit(shape, fits) }, resolve) };
    }
    case 'call': {
      const resolve = (source: unknown, given: unknown, context: RandomContext) => {
        context.log.push(`${shape.name} ${JSON.stringify(given)}`);
        return charged(keyed(sourceOf(source, context), shape.name), context);
      };
      return { ...config, resolve: shape.unknown ? resolve : declareRepeatable(resolve) };
    }
    default:
      return {
        ...config,
        resolve: repeatableResolverWithInfo((source: unknown, given: unknown, context: RandomContext, info) => {
          const { fieldName, fieldNodes, returnType, parentType, path, rootValue, operation, variableValues, fragments } = info;
          const seen = [fieldName, fieldNodes.length, String(returnType), parentType.name, responsePathAsArray(path), rootValue, given];
          context.log.push(JSON.stringify([...seen, operation.name, Object.keys(variableValues.coerced), Object.keys(fragments)]));
          return charged(keyed(sourceOf(source, context), shape.name), context);
        }),
      };
  }
}

/** Any type that `GraphQLNonNull` accepts. The wrappers above never repeat. */
type WrappedType = typeof GraphQLString;

/** Charges lists, as `chargeList` does. */
function charged(value: unknown, context: RandomContext): unknown {
  if (!Array.isArray(value)) return value;
  context.charge(value.length);
  if (value.length < 2) return value;
  return new ChargedList({ length: value.length, list: () => value, iterate: () => context.iterate(value), key: value });
}

function fitOf({ named, wrappers }: FieldShape): (value: unknown) => boolean {
  if (wrappers.includes('list')) return (value) => Array.isArray(value);
  if (named === 'Boolean') return (value) => typeof value === 'boolean';
  return named === 'String' ? (value) => typeof value === 'string' : (value) => typeof value !== 'symbol';
}

function inlineFit(shape: FieldShape, fit: (value: unknown) => boolean) {
  if (shape.wrappers.includes('list')) return fit;
  return shape.named === 'String' ? 'text' : shape.named === 'Boolean' ? 'boolean' : fit;
}

const box = new GraphQLInputObjectType({
  name: 'Box',
  fields: { width: { type: GraphQLInt, default: { value: 1 } }, label: { type: GraphQLString } },
});

function leafTypes(): Readonly<Record<string, GraphQLOutputType>> {
  return {
    String: GraphQLString,
    Int: GraphQLInt,
    Float: GraphQLFloat,
    Boolean: GraphQLBoolean,
    ID: GraphQLID,
    Color: new GraphQLEnumType({ name: 'Color', values: { RED: { value: 1 }, BLUE: { value: 'blue' }, GREEN: {} } }),
    Any: new GraphQLScalarType({ name: 'Any', coerceOutputValue: (value) => value, ...sentUnchanged }),
    Twice: new GraphQLScalarType({ name: 'Twice', coerceOutputValue: (value) => (typeof value === 'number' ? value * 2 : undefined) }),
  };
}
