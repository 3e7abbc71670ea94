import {
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { CollectedFields } from './collect-fields.ts';
import type { AbstractSite, FieldSite } from './field-site.ts';
import { hasFreshArguments } from './field-site.ts';
import type { KeptTexts, TextSourceOf } from './kept-texts.ts';
import { isOfObject, type KnownResolver, knownResolverOf, resolverOf, type StoredRead, textSourceOf } from './known-resolvers.ts';
import { leafCode } from './leaf-code.ts';

/** Thrown if the operation uses a resolver or a type that the compiler does not know. Trying again gives the same error. */
export class NotCompilable extends Error {
  override readonly name = 'NotCompilable';
}

/**
 * The parts of an operation that the writer reads and adds to. Each position of the document gets a number, and generated code contains only these
 * numbers.
 */
export interface WriterScope {
  collect(type: GraphQLObjectType, nodes: readonly FieldNode[]): CollectedFields;
  addSite(site: FieldSite): number;
  addAbstractSite(site: AbstractSite): number;
  /** Creates the store for the JSON texts of one selection set. */
  createTexts(sourceOf: TextSourceOf): KeptTexts;
}

/** A function of the generated code. */
interface WrittenFunction {
  readonly name: string;
  /** True if it is a generator function. It yields where other operations may run. */
  readonly isSteps: boolean;
  /** True if the function needs its last parameter `q`, the path of its object. */
  readonly needsPath: boolean;
  /** True if each field depends on the object alone (`KnownResolver`), so that the JSON text can be stored. */
  readonly isOfObject: boolean;
  /** True if a field may lead to other objects. Finding them takes longer than all other fields of an object. */
  readonly isLeading: boolean;
}

/** A field for whose value code is being written. */
interface FieldValue {
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  /** JavaScript expression for the path of the value in the answer. */
  readonly path: string;
  readonly known: KnownResolver;
  /** Number of lists of this field around the value. It makes the names of generated variables unique. */
  readonly level: number;
}

/** A member of the data of an object. */
interface Member {
  readonly key: string;
  /** The variable with its value, once the statements of `code` have run. */
  readonly v: string;
  readonly isComposite: boolean;
  readonly code: Code;
}

/** Generated statements, and what they require of the function that contains them (see `WrittenFunction`). */
interface Code {
  readonly text: string;
  readonly isSteps: boolean;
  readonly needsPath: boolean;
  readonly isOfObject: boolean;
  readonly isLeading: boolean;
}

const nothing: Code = { text: '', isSteps: false, needsPath: false, isOfObject: true, isLeading: false };

/** Number of elements of a list between two points at which other operations may run. It is 1 if the elements lead to other objects. */
const elementsPerStep = 16;

/**
 * Writes the JavaScript of one selection set. Names of the schema and of the document appear in it only as quoted texts. Every other value is a
 * constant: the code gets the constants as the array `k`.
 *
 * Each generated function has the parameters `s` (the source), `c` (the context), `r` (the `ProjectionRun`) and `q` (the path of the object).
 */
export class UnitWriter {
  readonly #scope: WriterScope;
  readonly #functions: string[] = [];
  readonly constants: unknown[] = [];
  /** True while code inside a list is written. Only a list that is in no other list becomes JSON text. */
  #isInList: boolean;

  /** @param isInList True if the selection set itself is inside a list. */
  constructor(scope: WriterScope, { isInList }: { readonly isInList: boolean }) {
    this.#scope = scope;
    this.#isInList = isInList;
  }

  /** Returns JavaScript for `new Function('k', …)`: a body that defines all functions and returns the one named by `entry`. */
  textOf(entry: WrittenFunction): string {
    const names = this.constants.map((_, index) => `k${index}`);
    return `"use strict";\nconst [${names.join(', ')}] = k;\n${this.#functions.join('\n')}\nreturn ${entry.name};`;
  }

  /**
   * Writes a function that makes the data of an object of this type, and returns its name and requirements.
   *
   * @throws {NotCompilable} if a resolver or a type is not known to the compiler.
   */
  writeObject(type: GraphQLObjectType, nodes: readonly FieldNode[]): WrittenFunction {
    return this.#addObject(this.#writeMembers(type, nodes));
  }

  #writeMembers(type: GraphQLObjectType, nodes: readonly FieldNode[]): readonly Member[] {
    if (type.isTypeOf != null) throw new NotCompilable(`${type.name} tests its values`);
    return [...this.#scope.collect(type, nodes)].map(([key, merged], index) => {
      const v = `v${index}`;
      return { key, v, isComposite: merged[0].selectionSet !== undefined, code: this.#writeField(type, key, { merged, v }) };
    });
  }

  #addObject(members: readonly Member[]): WrittenFunction {
    return this.#addFunction(joined(members), literalOf(members));
  }

  /** Writes a function that makes the data of a root field from `s`, the value of its resolver. `q` is the path of the field. */
  writeRootValue(type: GraphQLOutputType, nodes: FieldValue['nodes'], known: KnownResolver): WrittenFunction {
    return this.#addFunction(this.#complete(type, 's', { nodes, path: 'q', known, level: 0 }), 's');
  }

  #addFunction({ text, ...properties }: Code, result: string): WrittenFunction {
    const name = `p${this.#functions.length}`;
    // `t` is known only to the functions of `#writeParts`.
    this.#functions.push(`function${properties.isSteps ? '*' : ''} ${name}(s, c, r, q, t) {\n${text}\nreturn ${result};\n}`);
    return { name, ...properties };
  }

  /**
   * Writes two functions for the elements of a list, if some members depend on the object alone and others do not. The first one returns the JSON of the
   * former: one text for each group of neighbours. The second one gets these texts as `t` and returns the JSON of the whole element. Returns undefined if
   * storing texts would save little.
   */
  #writeParts(members: readonly Member[]): ElementParts | undefined {
    if (!members.some(({ isComposite, code }) => isComposite && code.isOfObject)) return undefined;
    const groups: Member[][] = [];
    for (const member of members) {
      const last = groups.at(-1);
      if (last?.[0]?.code.isOfObject === member.code.isOfObject) last.push(member);
      else groups.push([member]);
    }
    const inner = (group: readonly Member[]) => `JSON.stringify(${literalOf(group)}).slice(1, -1)`;
    const isOfObject = (group: readonly Member[]) => group[0]?.code.isOfObject === true;
    let stored = 0;
    const pieces = groups.map((group) => (isOfObject(group) ? `t[${stored++}]` : inner(group)));
    const texts = this.#addFunction(
      joined(members.filter(({ code }) => code.isOfObject)),
      `[${groups.filter(isOfObject).map(inner).join(', ')}]`,
    );
    const whole = this.#addFunction(joined(members.filter(({ code }) => !code.isOfObject)), `r.object(${pieces.join(', ')})`);
    return { texts, whole };
  }

  #constant(value: unknown): string {
    const known = this.constants.indexOf(value);
    return `k${known === -1 ? this.constants.push(value) - 1 : known}`;
  }

  #writeField(parentType: GraphQLObjectType, key: string, { merged, v }: { merged: FieldValue['nodes']; v: string }): Code {
    const name = merged[0].name.value;
    if (name === '__typename') return { ...nothing, text: `let ${v} = ${JSON.stringify(parentType.name)};` };
    const field = parentType.getFields()[name];
    const known = field && knownResolverOf(field, merged[0]);
    if (field === undefined || known === undefined) throw new NotCompilable(`${parentType.name}.${name}`);
    const path = `q_${v}`;
    const site = { field, nodes: merged, parentType, freshArguments: hasFreshArguments(field, merged[0]) };
    const read = this.#read(v, site, { known, path });
    const rest = this.#complete(field.type, v, { nodes: merged, path, known, level: 0 });
    const needsPath = read.needsPath || rest.needsPath;
    const at = needsPath ? `const ${path} = { prev: q, key: ${JSON.stringify(key)}, typename: ${JSON.stringify(parentType.name)} };\n` : '';
    const ofObject = isOfObject(known) && rest.isOfObject;
    const isLeading = rest.isLeading || (known.type === 'call' && isCompositeType(getNamedType(field.type)));
    return { text: `${at}${read.text}\n${rest.text}`, isSteps: rest.isSteps, needsPath, isOfObject: ofObject, isLeading };
  }

  /** Returns code that declares the variable named by `v`, with the value of the field: read directly, or returned by its resolver. */
  #read(v: string, site: FieldSite, { known, path }: { readonly known: KnownResolver; readonly path: string }): Code {
    const resolver = () => this.#constant(resolverOf(site.field));
    switch (known.type) {
      case 'property': {
        const read = `let ${v} = typeof s === "object" ? s[${JSON.stringify(known.name)}] : r.odd();`;
        return { ...nothing, text: `${read}\nif (typeof ${v} === "function") r.odd();` };
      }
      case 'stored':
        return { ...nothing, text: this.#readStored(v, known) };
      case 'value':
        return { ...nothing, text: `let ${v} = ${resolver()}(s);` };
      case 'call': {
        const number = this.#scope.addSite(site);
        const info = known.info ? `r.info(${number}, ${path})` : 'undefined';
        return { ...nothing, text: `let ${v} = ${resolver()}(s, r.args(${number}), c, ${info});`, needsPath: known.info };
      }
      default:
        return known satisfies never;
    }
  }

  #readStored(v: string, { path, key, fit }: StoredRead): string {
    const from = ['s', ...path.map((part) => `[${JSON.stringify(part)}]`)].join('');
    const quoted = JSON.stringify(key);
    // Without this test, a key such as `constructor` would find a member that every object inherits.
    const read = key in Object.prototype ? `(Object.hasOwn(${from}, ${quoted}) ? ${from}[${quoted}] : null)` : `${from}[${quoted}]`;
    if (fit === 'any') return `let ${v} = ${read};`;
    const test =
      fit === 'text' ? `typeof ${v} === "string"` : fit === 'boolean' ? `typeof ${v} === "boolean"` : `${this.#constant(fit)}(${v})`;
    return `let ${v} = ${read};\nif (${v} !== undefined && ${v} !== null && !(${test})) r.misfit();`;
  }

  /** Returns code that replaces the value in the variable named by `v` by its data in the answer. */
  #complete(type: GraphQLOutputType, v: string, value: FieldValue): Code {
    const isRequired = isNonNullType(type);
    const present = this.#completePresent(isRequired ? type.ofType : type, v, value);
    const onNull = isRequired ? 'r.null();' : `${v} = null;`;
    return { ...present, text: `if (${v} === undefined || ${v} === null) ${onNull} else {\n${present.text}\n}` };
  }

  #completePresent(type: GraphQLOutputType, v: string, value: FieldValue): Code {
    const isJson = value.known.type === 'stored';
    if (isLeafType(type)) return { ...nothing, text: leafCode(type, v, { constant: this.#constant(type), isJson }) };
    const check = isJson ? '' : `r.present(${v});\n`;
    if (isListType(type)) return this.#completeList(type.ofType, v, value);
    if (isObjectType(type)) {
      const { name, ...properties } = this.writeObject(type, value.nodes);
      return { ...properties, text: `${check}${v} = ${callOf({ name, ...properties }, v, value)};` };
    }
    if (isAbstractType(type))
      return { text: check + this.#abstractCode(type, v, value), isSteps: true, needsPath: true, isOfObject: false, isLeading: true };
    throw new NotCompilable(String(type));
  }

  #completeList(itemType: GraphQLOutputType, v: string, value: FieldValue): Code {
    const own = `${value.level}_${v}`;
    const [list, out, index, element, path] = [`l${own}`, `o${own}`, `i${own}`, `e${own}`, `w${own}`] as const;
    // Only resolvers of the type `call` return lists of many objects, whose elements the budget has charged. Other lists are parts of one object.
    const isCharged = value.known.type === 'call';
    const isText = isCharged && !this.#isInList && isCompositeType(getNamedType(itemType));
    const wasInList = this.#isInList;
    this.#isInList = true;
    const inner = { ...value, level: value.level + 1, path };
    const stored = isText ? this.#storedElement(itemType, element, inner) : undefined;
    const item = stored?.item ?? this.#complete(itemType, element, inner);
    this.#isInList = wasInList;
    const isSteps = item.isSteps || isCharged;
    const pause = !isSteps ? '' : item.isLeading ? 'yield;\n' : `if (${index} % ${elementsPerStep} === ${elementsPerStep - 1}) yield;\n`;
    const at = item.needsPath ? `const ${path} = { prev: ${value.path}, key: ${index}, typename: undefined };\n` : '';
    const { texts, parts } = stored ?? {};
    const push = `${item.text}\n${out}.push(${element});`;
    const add =
      texts === undefined
        ? push
        : parts === undefined
          ? keptElement({ element, index, out }, item.text)
          : partedElement({ element, index, out }, { parts, path, push });
    const loop = `for (let ${index} = 0; ${index} < ${list}.length; ${index}++) {\n${pause}${at}let ${element} = ${list}[${index}];\n${add}\n}`;
    const elements = `const ${list} = ${isText ? `${out}.list` : `r.list(${v})`};\n${loop}`;
    if (!isText) return { ...item, text: `const ${out} = [];\n${elements}\n${v} = ${out};`, isSteps };
    const begin = `const ${out} = r.${parts === undefined ? 'texts' : 'parts'}(${texts ?? 'undefined'}, ${v});`;
    return { ...item, text: `${begin}\nif (!${out}.reuseAll()) {\n${elements}\n}\n${v} = ${out}.end();`, isSteps };
  }

  /** Writes the code for the elements of a list whose texts can be stored, as a whole or in parts. Undefined if they cannot be stored. */
  #storedElement(itemType: GraphQLOutputType, element: string, value: FieldValue): StoredElement | undefined {
    const type = isNonNullType(itemType) ? itemType.ofType : undefined;
    const sourceOf = isObjectType(type) ? textSourceOf(type) : undefined;
    if (!isObjectType(type) || sourceOf === undefined) return undefined;
    const members = this.#writeMembers(type, value.nodes);
    const whole = this.#addObject(members);
    const parts = whole.isOfObject ? undefined : this.#writeParts(members);
    const present = `if (${element} === undefined || ${element} === null) r.null();\nr.present(${element});`;
    const { name: _, ...properties } = whole;
    const item = { ...properties, text: `${present}\n${element} = ${callOf(whole, element, value)};` };
    if (!whole.isOfObject && parts === undefined) return { item, texts: undefined, parts };
    return { item, texts: this.#constant(this.#scope.createTexts(sourceOf)), parts: parts && { ...parts, present } };
  }

  #abstractCode(type: GraphQLAbstractType, v: string, { nodes, path }: FieldValue): string {
    if (type.extensions.typeOfValue !== true) throw new NotCompilable(`${type.name} needs more than a value to find its type`);
    const constant = this.#constant(type);
    const unit = `u_${v}`;
    const found = `const ${unit} = r.unit(${this.#scope.addAbstractSite({ type, nodes, isInList: this.#isInList })}, ${constant}.resolveType(${v}, c, undefined, ${constant}));`;
    const call = `${unit}.project(${v}, c, r, ${path})`;
    return `${found}\n${v} = ${unit}.isSteps ? yield* ${call} : ${call};`;
  }
}

/** The functions for an element of whose text some parts are stored. `#writeParts` explains them. */
interface ElementParts {
  readonly texts: WrittenFunction;
  readonly whole: WrittenFunction;
}

/** The code for an element of a list whose text can be stored. */
interface StoredElement {
  /** Replaces the element by its data. */
  readonly item: Code;
  /** The name of the constant with the `KeptTexts` of the elements. Undefined: no text is stored. */
  readonly texts: string | undefined;
  /** The functions of `#writeParts`, and the test of an element. Undefined: the text is stored as a whole. */
  readonly parts: (ElementParts & { readonly present: string }) | undefined;
}

type ElementNames = Readonly<Record<'element' | 'index' | 'out', string>>;

/** Returns the call of a written function for the value in the variable named by `v`. */
function callOf({ name, isSteps, needsPath }: WrittenFunction, v: string, { path }: Pick<FieldValue, 'path'>, texts?: string): string {
  const more = texts === undefined ? (needsPath ? `, ${path}` : '') : `, ${needsPath ? path : 'undefined'}, ${texts}`;
  return `${isSteps ? 'yield* ' : ''}${name}(${v}, c, r${more})`;
}

/** Returns an object literal with these members. */
function literalOf(members: readonly Member[]): string {
  // In an object literal, the key `"__proto__"` would set the prototype. As a computed key, it is an ordinary property.
  const printed = members.map(({ key, v }) => `${key === '__proto__' ? '["__proto__"]' : JSON.stringify(key)}: ${v}`);
  return `({ ${printed.join(', ')} })`;
}

/** Writes the addition of an element of whose text some parts may be known. */
function partedElement(
  { element, index, out }: ElementNames,
  {
    parts: { texts, whole, present },
    path,
    push,
  }: { readonly parts: NonNullable<StoredElement['parts']>; readonly path: string; readonly push: string },
): string {
  const t = `t_${element}`;
  const known = `const ${t} = ${out}.parts(${index}) ?? ${out}.keepParts(${index}, ${callOf(texts, element, { path })});`;
  return `if (${out}.storesTexts) {\n${present}\n${known}\n${out}.addText(${callOf(whole, element, { path }, t)});\n} else {\n${push}\n}`;
}

/** Writes the addition of an element whose text may be known, alone or with the elements after it. */
function keptElement({ element, index, out }: ElementNames, item: string): string {
  const count = `n_${element}`;
  const reuse = `const ${count} = ${out}.reuse(${index});\nif (${count} > 0) { ${index} += ${count} - 1; if (${count} >= ${elementsPerStep}) yield; continue; }`;
  return `${reuse}\n${item}\n${out}.keep(${index}, ${element});`;
}

function joined(members: readonly Member[]): Code {
  const codes = members.map(({ code }) => code);
  return {
    text: codes.map(({ text }) => text).join('\n'),
    isSteps: codes.some(({ isSteps }) => isSteps),
    needsPath: codes.some(({ needsPath }) => needsPath),
    isOfObject: codes.every(({ isOfObject }) => isOfObject),
    isLeading: codes.some(({ isLeading }) => isLeading),
  };
}
