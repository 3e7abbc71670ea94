import type { GroupKind } from '../../core/kinds.ts';

/** A relation to one object of the same cluster, with which a path may begin: it goes on in that object. */
export interface PathRelation {
  readonly name: 'node' | 'owner';
  /** What it leads to. Absent: objects of any kind, of which only what all have can be asked. */
  readonly to?: GroupKind;
}

/** Those that objects of the kind have. */
export function pathRelationsOf({ group, kind }: GroupKind): readonly PathRelation[] {
  return group === '' && kind === 'Pod' ? ofPods : ofAll;
}

/** False for texts that no path through a relation has: for nearly all, without parsing any. */
export function mayBeginWithRelation(text: string): boolean {
  return text.startsWith('[') || ofPods.some(({ name }) => text.startsWith(name));
}

const owner: PathRelation = { name: 'owner' };
const node: PathRelation = { name: 'node', to: { group: '', kind: 'Node' } };
const ofAll: readonly PathRelation[] = [owner];
const ofPods: readonly PathRelation[] = [node, owner];
