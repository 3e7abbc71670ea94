import type { GroupKind } from '../../core/kinds.ts';

/** A relation to one object of the same cluster. A path may begin with it and continue in that object. */
export interface PathRelation {
  readonly name: 'node' | 'owner';
  /** The kind of the related object. Undefined for objects of any kind: a path can only read the fields that all kinds have. */
  readonly to?: GroupKind;
}

/** Returns the relations with which a path in objects of this kind may begin. */
export function pathRelationsOf({ group, kind }: GroupKind): readonly PathRelation[] {
  return group === '' && kind === 'Pod' ? ofPods : ofAll;
}

/**
 * False if the text cannot be a path through a relation. True if it may be one. This cheap test makes parsing unnecessary for nearly all
 * texts.
 */
export function mayBeginWithRelation(text: string): boolean {
  return text.startsWith('[') || ofPods.some(({ name }) => text.startsWith(name));
}

const owner: PathRelation = { name: 'owner' };
const node: PathRelation = { name: 'node', to: { group: '', kind: 'Node' } };
const ofAll: readonly PathRelation[] = [owner];
const ofPods: readonly PathRelation[] = [node, owner];
