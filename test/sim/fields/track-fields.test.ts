import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { builtInType } from '../../../src/sim/fields/built-in-types.ts';
import { pathsOf, pathText } from '../../../src/sim/fields/field-set.ts';
import { type FieldType, untyped } from '../../../src/sim/fields/field-types.ts';
import type { Manager, Ownership } from '../../../src/sim/fields/managers.ts';
import { applyFields, type Tracking, trackUpdate } from '../../../src/sim/fields/track-fields.ts';

const tracking = (manager: string, operation: Manager['operation'], type: FieldType = untyped): Tracking => ({
  type,
  by: { manager, operation, apiVersion: 'v1' },
  time: '2026-01-01T00:00:00Z',
});

const keyOf = ({ manager, operation }: Manager) => `${manager} ${operation}`;

type Step =
  | { readonly type: 'update'; readonly manager: string; readonly data: Readonly<Record<string, string>> }
  | { readonly type: 'apply'; readonly manager: string; readonly data: Readonly<Record<string, string>>; readonly force: boolean };

const manager = fc.constantFrom('a', 'b', 'c');
const data = fc.dictionary(fc.constantFrom('k', 'l', 'm', 'n'), fc.constantFrom('1', '2', '3'), { maxKeys: 4, noNullPrototype: true });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('update' as const), manager, data }),
  fc.record({ type: fc.constant('apply' as const), manager, data, force: fc.boolean() }),
);

/** A naive model of ownership for flat keys: values, and the owners of each key. */
class NaiveFields {
  values: Record<string, string> = {};
  readonly owners = new Map<string, Set<string>>();

  /** Returns false if the write is refused. */
  step(given: Step): boolean {
    return given.type === 'update' ? this.#update(given.manager, given.data) : this.#apply(given);
  }

  #update(name: string, next: Readonly<Record<string, string>>): boolean {
    this.#write(`${name} Update`, next, (own, changed, removed) => own.difference(removed).union(changed));
    return true;
  }

  #apply({ manager: name, data: applied, force }: Step & { readonly type: 'apply' }): boolean {
    const key = `${name} Apply`;
    const [last, given] = [this.owners.get(key) ?? new Set<string>(), new Set(Object.keys(applied))];
    const others = [...this.owners].filter(([other]) => other !== key).map(([, fields]) => fields);
    const isElsewhere = (field: string) => others.some((fields) => fields.has(field));
    const kept = Object.entries(this.values).filter(([field]) => !last.has(field) || given.has(field) || isElsewhere(field));
    const next = { ...Object.fromEntries(kept), ...applied };
    const takes = Object.keys(next).filter((field) => next[field] !== this.values[field]);
    if (!force && takes.some(isElsewhere)) return false;
    this.#write(key, next, () => given);
    return true;
  }

  #write(
    key: string,
    next: Readonly<Record<string, string>>,
    owned: (own: Set<string>, changed: Set<string>, removed: Set<string>) => Set<string>,
  ): void {
    const changed = new Set(Object.keys(next).filter((field) => next[field] !== this.values[field]));
    const removed = new Set(Object.keys(this.values)).difference(new Set(Object.keys(next)));
    for (const [other, fields] of this.owners) if (other !== key) this.owners.set(other, fields.difference(changed).difference(removed));
    this.owners.set(key, owned(this.owners.get(key) ?? new Set(), changed, removed));
    this.values = { ...next };
  }
}

test('gives fields to the manager that changes them, like a naive model of flat keys', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const naive = new NaiveFields();
      let [values, managers]: [JsonObject, readonly Ownership[]] = [{}, []];
      for (const given of steps) {
        const isDone = naive.step(given);
        if (given.type === 'update') {
          managers = trackUpdate(managers, { before: values, after: given.data }, tracking(given.manager, 'Update'));
          values = given.data;
        } else {
          const change = { live: values, applied: given.data, force: given.force };
          const applied = applyFields(managers, change, tracking(given.manager, 'Apply'));
          expect(applied.result).toBe(isDone ? 'applied' : 'conflicts');
          if (applied.result === 'applied') [values, managers] = [applied.object, applied.managers];
        }
        expect(values).toEqual(naive.values);
        const owners = managers.map((one) => [keyOf(one), pathsOf(one.fields).map((path) => path.join('').slice(2))] as const);
        const owned = owners.filter(([, fields]) => fields.length > 0).map(([key, fields]) => [key, new Set(fields)] as const);
        expect(new Map(owned)).toEqual(new Map([...naive.owners].filter(([, fields]) => fields.size > 0)));
      }
    }),
  );
});

const anyJson = fc.jsonValue({ maxDepth: 4 }).map((value): Json => JSON.parse(JSON.stringify(value)));

test('changes nothing when the same is applied again, and restores the object when nothing is applied', () => {
  fc.assert(
    fc.property(anyJson, anyJson, (mine, theirs) => {
      const [live, applied]: [JsonObject, JsonObject] = [{ theirs }, { mine }];
      const others = trackUpdate([], { before: {}, after: live }, tracking('them', 'Update'));
      const first = applyFields(others, { live, applied, force: false }, tracking('me', 'Apply'));
      if (first.result !== 'applied') throw new Error('expected no conflict');
      expect(first.object).toEqual({ theirs, mine });
      const again = applyFields(
        first.managers,
        { live: first.object, applied, force: false },
        { ...tracking('me', 'Apply'), time: 'later' },
      );
      expect(again).toEqual(first);
      const none = applyFields(first.managers, { live: first.object, applied: {}, force: false }, tracking('me', 'Apply'));
      expect(none.result === 'applied' && none.object).toEqual(live);
    }),
  );
});

describe('with the types of the model', () => {
  const deployment = builtInType({ group: 'apps', kind: 'Deployment' });
  const withContainers = (...containers: readonly JsonObject[]): JsonObject => ({
    metadata: {},
    spec: { template: { spec: { containers } } },
  });
  const apply = (managers: readonly Ownership[], live: JsonObject, applied: JsonObject, force = false) =>
    applyFields(managers, { live, applied, force }, tracking('me', 'Apply', deployment));

  test('keeps fields that another manager added to an item, and removes an item without other owners', () => {
    const [web, side] = [
      { name: 'web', image: 'web:1' },
      { name: 'side', image: 'side:1' },
    ];
    const made = apply([], { metadata: {} }, withContainers(web, side));
    if (made.result !== 'applied') throw new Error('expected no conflict');
    const injected = withContainers({ ...web, tty: true }, side, { name: 'proxy', image: 'proxy:1' });
    const managers = trackUpdate(made.managers, { before: made.object, after: injected }, tracking('mesh', 'Update', deployment));
    const fewer = apply(managers, injected, withContainers({ ...web, image: 'web:2' }));
    expect(fewer.result === 'applied' && fewer.object).toEqual(
      withContainers({ ...web, image: 'web:2', tty: true }, { name: 'proxy', image: 'proxy:1' }),
    );
  });

  test('keeps the order of the applied list, and other items in place', () => {
    const named = (...names: readonly string[]) => withContainers(...names.map((name) => ({ name })));
    const live = named('b', 'x', 'a');
    const applied = apply([], live, named('c', 'a', 'b'));
    expect(applied.result === 'applied' && applied.object).toEqual(named('c', 'a', 'b', 'x'));
  });

  test('distinguishes a port of the default protocol from others of the same number', () => {
    const ports = (...list: readonly JsonObject[]) => withContainers({ name: 'web', ports: list });
    const live = ports({ containerPort: 53 }, { containerPort: 53, protocol: 'UDP' });
    const managers = trackUpdate([], { before: { metadata: {} }, after: live }, tracking('them', 'Update', deployment));
    const refused = apply(
      managers,
      live,
      ports({ containerPort: 53, protocol: 'TCP', hostPort: 1 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }),
    );
    expect(refused.result).toBe('applied');
    const other = apply(managers, live, ports({ containerPort: 53, protocol: 'SCTP' }));
    expect(
      other.result === 'applied' && pathsOf(other.managers.at(-1)?.fields ?? { isMember: false, below: new Map() }).map(pathText),
    ).toContain('.spec.template.spec.containers[name="web"].ports[containerPort=53,protocol="SCTP"].protocol');
  });
});
