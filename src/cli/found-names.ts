import type { JsonObject } from '../core/json.ts';
import { ClusterAnswers } from './cluster-answers.ts';
import { exitCodes } from './command-failure.ts';
import type { Session } from './session.ts';
import { printable } from './table.ts';
import type { ListTarget } from './words-of-objects.ts';

/** Collects which of the named objects were found, and which clusters have answered. */
export class FoundNames {
  /** The answers for all targets together. */
  readonly answers = new ClusterAnswers();
  readonly #byTarget = new Map<string, { readonly names: Set<string>; readonly answers: ClusterAnswers }>();

  /** The names found so far of a target, and the answers for it. The caller adds to both. */
  of({ kind }: ListTarget): { readonly names: Set<string>; readonly answers: ClusterAnswers } {
    const known = this.#byTarget.get(kind) ?? { names: new Set(), answers: new ClusterAnswers() };
    this.#byTarget.set(kind, known);
    return known;
  }

  /**
   * Reports each name that was not found, in a line on standard error.
   *
   * @returns The exit code: 1 if no cluster has one of the names, 3 if that is not known because a cluster did not answer, else 0.
   */
  reportMissing(session: Session, targets: readonly ListTarget[], namespaces: readonly string[] | null): number {
    const codes = new Set<number>();
    const place = namespaces === null ? '' : ` in ${namespaces.join(' or ')}`;
    for (const target of targets) {
      const { names, answers } = this.of(target);
      for (const name of (target.names ?? []).filter((one) => !names.has(one))) {
        const what = `${target.kind} ${name}`;
        if (answers.isComplete) session.terminal.err(`muster: ${printable(`${what} is in no cluster${place && `,${place}`}`)}\n`);
        else answers.reportUnknown(session, `${what}${place}`);
        codes.add(answers.isComplete ? exitCodes.failed : exitCodes.unknown);
      }
    }
    return [exitCodes.failed, exitCodes.unknown].find((code) => codes.has(code)) ?? exitCodes.good;
  }
}

/** The condition that chooses the objects of a target by name. Null for all. */
export function nameCondition({ names }: ListTarget): JsonObject | null {
  return names === undefined ? null : { path: 'metadata.name', in: names };
}
