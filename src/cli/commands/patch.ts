import { type Command as Commander, Option } from 'commander';
import { isJsonObject, type Json } from '../../core/json.ts';
import { type GatewayFlags, type RunCommand, withGatewayOptions } from '../arguments/gateway-options.ts';
import { readNamedFile } from '../arguments/read-sources.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { Session } from '../client/session.ts';
import { patchObjects } from '../writes/patch-objects.ts';
import type { WriteFlags } from '../writes/write-objects.ts';
import { isRealRun, withTargets, withWrites } from '../writes/write-options.ts';
import { resolveTargets, type TargetFlags } from '../writes/write-targets.ts';

const patchTypes = ['strategic', 'merge', 'json'] as const;

type PatchFlags = GatewayFlags &
  TargetFlags &
  WriteFlags & {
    readonly patch?: string;
    readonly patchFile?: string;
    readonly type: (typeof patchTypes)[number];
    readonly subresource?: string;
  };

const help = `
Works as kubectl patch, in each cluster of --context, else in all. The patch is
JSON or YAML:
  muster patch deploy/web -n shop -p '{"spec":{"paused":true}}'
  muster patch cm -l app=web -n shop --type merge -p 'data: {mode: fast}'
  muster patch deploy/web --type json -p '[{"op":"remove","path":"/spec/paused"}]'
An object that only some clusters have is no failure, unless --context names the
cluster without it.`;

/** Adds `muster patch`: patches objects in many clusters. */
export function addPatchCommand(program: Commander, run: RunCommand): void {
  withWrites(withTargets(withGatewayOptions(program.command('patch'))))
    .description('change fields of objects in many clusters')
    .option('-p, --patch <text>', 'the patch, as JSON or YAML')
    .option('--patch-file <file>', 'a file with the patch')
    .addOption(new Option('--type <type>', 'the format of the patch').choices(patchTypes).default('strategic'))
    .option('--subresource <name>', 'patch this subresource, such as status or scale')
    .addHelpText('after', help)
    .action((words: readonly string[], flags: PatchFlags) => {
      if ((flags.patch === undefined) === (flags.patchFile === undefined)) throw refused('expected either -p or --patch-file');
      return run(flags, (session) => patch(session, words, flags), { writes: isRealRun(flags) });
    });
}

async function patch(session: Session, words: readonly string[], flags: PatchFlags): Promise<number> {
  const value = await patchOf(session, flags);
  const resolved = await resolveTargets(session, words, flags);
  const type = flags.type.toUpperCase() as 'STRATEGIC' | 'MERGE' | 'JSON';
  const texts = { action: 'patch', word: 'patched', unchanged: 'patched (no change)' };
  return patchObjects(session, resolved, { value, type, subresource: flags.subresource, ...texts }, flags);
}

async function patchOf({ reader }: Session, { patch: written, patchFile, type }: PatchFlags): Promise<Json> {
  const text = written ?? (await readNamedFile(patchFile ?? ''));
  const read = await reader.documents(text);
  if (read.result === 'refused') throw refused(`the patch is neither JSON nor YAML: ${read.message}`);
  const [value, another] = read.documents;
  const isFitting = type === 'json' ? Array.isArray(value) : isJsonObject(value);
  if (value === undefined || another !== undefined || !isFitting)
    throw refused(`expected ${type === 'json' ? 'a list of operations' : 'an object'} as a patch of type ${type}`);
  return value;
}

function refused(message: string): CommandFailure {
  return new CommandFailure(exitCodes.refused, message);
}
