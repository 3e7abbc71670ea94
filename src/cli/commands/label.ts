import type { Command as Commander } from 'commander';
import type { JsonObject } from '../../core/json.ts';
import { type GatewayFlags, type RunCommand, withGatewayOptions } from '../arguments/gateway-options.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { printable } from '../output/table.ts';
import { patchObjects } from '../writes/patch-objects.ts';
import type { WriteFlags } from '../writes/write-objects.ts';
import { isRealRun, withTargets, withWrites } from '../writes/write-options.ts';
import { type ResolvedTargets, resolveTargets, type TargetFlags } from '../writes/write-targets.ts';

/** The two maps of texts in the metadata of an object. */
type MetadataMap = 'labels' | 'annotations';

type LabelFlags = GatewayFlags & TargetFlags & WriteFlags & { readonly overwrite?: boolean };

/** The new values by key. Null: the key is removed. */
type Changes = Readonly<Record<string, string | null>>;

const help = (verb: string) => `
Works as kubectl ${verb}, in each cluster of --context, else in all. KEY- removes
a key. A key with another value is changed only with --overwrite.
  muster ${verb} deploy/web team=shop -n shop
  muster ${verb} deploy -l app=web team=shop tier- -n shop --overwrite
An object that only some clusters have is no failure, unless --context names the
cluster without it.`;

/** Adds `muster label` and `muster annotate`: changes the labels or annotations of objects in many clusters. */
export function addLabelCommands(program: Commander, run: RunCommand): void {
  const add = (verb: 'label' | 'annotate', map: MetadataMap) =>
    withWrites(withTargets(withGatewayOptions(program.command(verb))))
      .description(`change ${map} of objects in many clusters`)
      .option('--overwrite', 'change keys that have another value')
      .addHelpText('after', help(verb))
      .action((words: readonly string[], flags: LabelFlags) => {
        const change = { ...splitWords(words), map, verb };
        return run(flags, (session) => changeMetadata(session, change, flags), { writes: isRealRun(flags) });
      });
  add('label', 'labels');
  add('annotate', 'annotations');
}

interface MetadataChange {
  /** The words that name objects. */
  readonly objects: readonly string[];
  readonly changes: Changes;
  readonly map: MetadataMap;
  readonly verb: 'label' | 'annotate';
}

/** Separates the words that name objects from `KEY=VALUE` and `KEY-`, which follow them. */
function splitWords(words: readonly string[]): Pick<MetadataChange, 'objects' | 'changes'> {
  const isChange = (word: string) => /^[^=]+=/.test(word) || /.-$/.test(word);
  const first = words.findIndex(isChange);
  if (first === -1) throw refused('expected KEY=VALUE or KEY- after the objects');
  const wrong = words.slice(first).find((word) => !isChange(word));
  if (wrong !== undefined) throw refused(`expected KEY=VALUE or KEY- after the objects, got ${wrong}`);
  const pairs = words.slice(first).map((word) => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    return key === undefined ? ([word.slice(0, -1), null] as const) : ([key, value ?? ''] as const);
  });
  return { objects: words.slice(0, first), changes: Object.fromEntries(pairs) };
}

async function changeMetadata(session: Session, { objects, changes, map, verb }: MetadataChange, flags: LabelFlags): Promise<number> {
  const resolved = await resolveTargets(session, objects, flags);
  if (flags.overwrite !== true) await refuseOverwrite(session, resolved, { changes, map });
  const isRemoval = Object.values(changes).every((value) => value === null);
  const word = verb === 'annotate' ? 'annotated' : isRemoval ? 'unlabeled' : 'labeled';
  const patch = {
    value: { metadata: { [map]: changes } },
    type: 'MERGE',
    word,
    unchanged: verb === 'label' ? 'not labeled' : word,
  } as const;
  return patchObjects(session, resolved, { ...patch, action: verb }, flags);
}

interface LabeledObject {
  readonly resource: { readonly cluster: { readonly name: string }; readonly metadata: JsonObject & { readonly name: string } } | null;
}

/** The largest number of objects that one request reads. */
const maxRead = 50;

/**
 * Reads the objects, and prints a line for each key that already has another value. A key that will be removed is not checked. Writes nothing.
 *
 * @throws {CommandFailure} if a key has another value.
 */
async function refuseOverwrite(
  session: Session,
  { targets }: ResolvedTargets,
  { changes, map }: Pick<MetadataChange, 'changes' | 'map'>,
): Promise<void> {
  const ids = targets.flatMap((target) => ('id' in target ? [target.id] : []));
  let conflicts = 0;
  for (let at = 0; at < ids.length; at += maxRead) {
    const fields = ids
      .slice(at, at + maxRead)
      .map((id, index) => `o${index}: resource(id: ${JSON.stringify(id)}) { cluster { name } metadata { name ${map} } }`);
    const answer = await session.gateway.send({ query: `{ ${fields.join(' ')} }` });
    for (const found of Object.values(answer.data ?? {}) as unknown as readonly LabeledObject['resource'][]) {
      const values = (found?.metadata[map] ?? {}) as Readonly<Record<string, string>>;
      for (const [key, value] of Object.entries(changes)) {
        const before = Object.hasOwn(values, key) ? values[key] : undefined;
        if (value === null || before === undefined || before === value) continue;
        conflicts++;
        session.terminal.err(
          `muster: ${printable(`${found?.cluster.name}: ${found?.metadata.name}: ${key} already has the value ${before}`)}\n`,
        );
      }
    }
  }
  if (conflicts > 0) throw new CommandFailure(exitCodes.failed, 'expected --overwrite to change existing values, and nothing was changed');
}

function refused(message: string): CommandFailure {
  return new CommandFailure(exitCodes.refused, message);
}
