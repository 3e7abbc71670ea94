import { Argument, type Command as Commander, Option } from 'commander';
import {
  collectValues,
  type GatewayFlags,
  parseTimeoutMs,
  type RunCommand,
  wholeNumberParser,
  withGatewayOptions,
  withNamespace,
} from '../arguments/gateway-options.ts';
import { CommandFailure, exitCodes } from '../client/command-failure.ts';
import type { MutationInputs } from '../client/gateway-client.ts';
import type { Session } from '../client/session.ts';
import { documentFormats, printAnswers } from '../output/print-answer.ts';
import { paintFor, printable, textOfLines } from '../output/table.ts';
import { propagationLines } from '../propagation/propagation-frame.ts';
import {
  changePropagations,
  followFromNow,
  keyInputs,
  type OutcomeFormat,
  reportEnd,
  showFor,
} from '../propagation/propagation-outcome.ts';
import { endVerdict, failoverLines, obstacleLines, propagationFields, type ShownPropagation } from '../propagation/propagation-state.ts';
import { showHistory } from '../propagation/show-history.ts';
import { watchPropagations } from '../propagation/watch-propagations.ts';
import { rolloutOfWorkload } from '../waits/workload-rollout.ts';
import { withConsent } from '../writes/write-options.ts';
import type { PropagationKey } from '../writes/write-targets.ts';

const actions = ['status', 'history', 'pause', 'resume', 'rollback', 'undo', 'restart'] as const;

type RolloutAction = (typeof actions)[number];

type RolloutFlags = GatewayFlags & {
  readonly namespace?: string;
  readonly watch: 'true' | 'false';
  readonly wait?: boolean;
  readonly revision?: number;
  readonly toRevision?: number;
  readonly timeout?: number;
  readonly confirmPrune?: boolean;
  readonly abandon?: readonly string[];
  readonly output?: OutcomeFormat;
};

const help = `
  status    shows the progress until the rollout ends; --watch=false shows the
            state once
  pause     starts no new work; running work continues
  resume    continues after a pause or after too many failures
  rollback  records the previous revision again, or that of --revision; undo is
            the same, with --to-revision as in kubectl
  history   lists the revisions, newest first; --revision shows the spec of one
status and restart with KIND/NAME or KIND NAME are about a workload in each
cluster. status waits until each of its rollouts is done, and exits with 1 if
one exceeds its deadline, or when the time of --timeout is up.
  muster rollout status deploy/web -n shop --timeout 5m
  muster rollout restart deploy web -n shop
Without a running gateway, this process does the work: resume and rollback wait
until the rollout ends, as with --wait.
  muster rollout status web -n shop
  muster rollout resume web -n shop --confirm-prune
Exits with 1 if there is no such Propagation, if the change is refused, or if
the rollout ends failed, paused, held or degraded.`;

/** Adds `muster rollout`: shows, pauses, resumes and rolls back a Propagation. */
export function addRolloutCommand(program: Commander, run: RunCommand): void {
  const command = withGatewayOptions(withNamespace(program.command('rollout')))
    .description('show the rollout of a Propagation; pause it, resume it, roll it back')
    .addArgument(new Argument('<action>', 'the action').choices(actions))
    .argument('<name...>', 'name of the Propagation; status, restart: also KIND/NAME of a workload')
    .addOption(new Option('-w, --watch <when>', 'status: wait until the rollout ends').choices(['true', 'false']).default('true'))
    .option('--wait', 'resume, rollback: wait until the rollout ends')
    .option(
      '--revision <number>',
      'rollback: the revision (default: the previous one); history: show its spec',
      wholeNumberParser(1, 999_999_999),
    )
    .option('--to-revision <number>', 'undo: the revision (default: the previous one)', wholeNumberParser(1, 999_999_999))
    .option('--timeout <duration>', 'status of a workload: the longest time to wait, such as 5m (default: no limit)', parseTimeoutMs)
    .option('--confirm-prune', 'resume: allow the deletions that are held')
    .option('--abandon <cluster>', 'resume: give up the copies in this cluster, which stay there; may be repeated', collectValues)
    .addOption(new Option('-o, --output <format>', 'output format').choices([...documentFormats, 'name']))
    .addHelpText('after', help)
    .action((action: RolloutAction, words: readonly string[], flags: RolloutFlags) => {
      const word = wordOf(words);
      checkFlags(action, flags);
      const writes = action !== 'status' && action !== 'history';
      if (word.includes('/') && !propagationPrefix.test(word))
        return run(flags, (session) => rolloutOfWorkload(session, { action, word, flags }), { writes });
      const key = { name: nameOf(word), namespace: flags.namespace ?? 'default' };
      if (flags.timeout !== undefined)
        throw new CommandFailure(exitCodes.refused, `expected --timeout with KIND/NAME of a workload, got the Propagation ${key.name}`);
      return run(flags, (session) => rollout(session, action, { key, flags }), { writes });
    });
  withConsent(command);
}

const propagationPrefix = /^prop(?:agations?)?(?:\.muster\.dev)?\//i;

async function rollout(session: Session, action: RolloutAction, { key, flags }: Pick<Change, 'key' | 'flags'>): Promise<number> {
  switch (action) {
    case 'status':
      return status(session, key, flags);
    case 'pause':
      return change(session, { key, flags, field: 'pausePropagation', word: 'paused' });
    case 'resume': {
      const { confirmPrune = false, abandon = null } = flags;
      const extra = { confirmPrune: { type: 'Boolean', value: confirmPrune }, abandon: { type: '[String!]', value: abandon } };
      return change(session, { key, flags, field: 'resumePropagation', word: 'resumed', extra });
    }
    case 'history':
      return showHistory(session, key, flags);
    case 'restart':
      throw new CommandFailure(exitCodes.refused, 'expected KIND/NAME of a workload to restart');
    case 'undo':
    case 'rollback': {
      const extra = { revision: { type: 'Int', value: flags.revision ?? flags.toRevision ?? null } };
      return change(session, { key, flags, field: 'rollbackPropagation', word: 'rolled back', extra });
    }
    default:
      throw action satisfies never;
  }
}

interface Change {
  readonly key: PropagationKey;
  readonly flags: RolloutFlags;
  readonly field: string;
  readonly word: string;
  readonly extra?: MutationInputs;
}

async function change(session: Session, { key, flags, field, word, extra }: Change): Promise<number> {
  const waits = field !== 'pausePropagation' && (session.ownsGateway || flags.wait === true);
  const mutation = { ...key, field, inputs: { ...keyInputs(key), ...extra } };
  return changePropagations(session, [mutation], { output: flags.output, word: () => word, until: waits ? 'settled' : 'accepted' });
}

async function status(session: Session, key: PropagationKey, { watch, output }: RolloutFlags): Promise<number> {
  const { terminal, clock } = session;
  if (watch === 'false' || output !== undefined) {
    const state = await stateOf(session, key);
    if (output === 'name') await terminal.out(`${printable(`propagation.muster.dev/${state.name}`)}\n`);
    else if (output !== undefined) await terminal.out(printAnswers([state], output));
    else {
      const lines = propagationLines(state, { nowMs: clock.now(), room: Number.POSITIVE_INFINITY, paint: paintFor(terminal) });
      const more = endVerdict(state) === 'bad' ? obstacleLines(state) : failoverLines(state);
      await terminal.out(textOfLines([...lines, ...more.map((line) => `  ${printable(line)}`)]));
    }
    return exitCodes.good;
  }
  await stateOf(session, key);
  const followed = followFromNow(session, key);
  const [end] = await watchPropagations(session, [followed], showFor(session, [followed]));
  return reportEnd(session, end, followed) ? exitCodes.good : exitCodes.failed;
}

async function stateOf({ gateway }: Session, key: PropagationKey): Promise<ShownPropagation> {
  const query = `query ($namespace: String!, $name: String!) { propagation(namespace: $namespace, name: $name) { ${propagationFields} } }`;
  const { propagation } = await gateway.query<{ readonly propagation: ShownPropagation | null }>(query, { ...key });
  if (propagation === null)
    throw new CommandFailure(exitCodes.failed, `there is no Propagation ${key.name} in the namespace ${key.namespace} of the hub`);
  return propagation;
}

/** Returns `deploy/web` for the words `deploy web`, which kubectl accepts too. */
function wordOf([word = '', name, ...others]: readonly string[]): string {
  if (name === undefined) return word;
  if (others.length === 0 && !`${word}${name}`.includes('/')) return `${word}/${name}`;
  throw new CommandFailure(exitCodes.refused, `expected one name, KIND NAME or KIND/NAME, got ${[word, name, ...others].join(' ')}`);
}

/** Returns the name of a Propagation, such as `web` for `web` or, as in kubectl, for `propagation/web`. */
function nameOf(word: string): string {
  const name = word.replace(propagationPrefix, '');
  if (name.includes('/') || name === '') throw new CommandFailure(exitCodes.refused, `expected the name of a Propagation, got ${word}`);
  return name;
}

/** The actions that accept each flag. */
const actionsOfFlags: readonly {
  readonly flag: keyof RolloutFlags;
  readonly option: string;
  readonly actions: readonly RolloutAction[];
}[] = [
  { flag: 'timeout', option: '--timeout', actions: ['status'] },
  { flag: 'wait', option: '--wait', actions: ['resume', 'rollback', 'undo'] },
  { flag: 'revision', option: '--revision', actions: ['rollback', 'history'] },
  { flag: 'toRevision', option: '--to-revision', actions: ['undo'] },
  { flag: 'confirmPrune', option: '--confirm-prune', actions: ['resume'] },
  { flag: 'abandon', option: '--abandon', actions: ['resume'] },
];

function checkFlags(action: RolloutAction, flags: RolloutFlags): void {
  const wrong = actionsOfFlags.find(({ flag, actions: accepting }) => flags[flag] !== undefined && !accepting.includes(action));
  if (wrong !== undefined)
    throw new CommandFailure(
      exitCodes.refused,
      `expected ${wrong.option} with rollout ${wrong.actions.join(' or ')}, got it with ${action}`,
    );
}
