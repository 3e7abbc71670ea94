import { Argument, type Command as Commander, Option } from 'commander';
import {
  collectValues,
  type GatewayFlags,
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
import { endVerdict, obstacleLines, propagationFields, type ShownPropagation } from '../propagation/propagation-state.ts';
import { watchPropagations } from '../propagation/watch-propagations.ts';
import type { PropagationKey } from '../writes/write-targets.ts';

const actions = ['status', 'pause', 'resume', 'rollback'] as const;

type RolloutAction = (typeof actions)[number];

type RolloutFlags = GatewayFlags & {
  readonly namespace?: string;
  readonly watch: 'true' | 'false';
  readonly wait?: boolean;
  readonly revision?: number;
  readonly confirmPrune?: boolean;
  readonly abandon?: readonly string[];
  readonly output?: OutcomeFormat;
};

const help = `
  status    shows the progress until the rollout ends; --watch=false shows the
            state once
  pause     starts no new work; running work continues
  resume    continues after a pause or after too many failures
  rollback  records the previous revision again, or that of --revision
Without a running gateway, this process does the work: resume and rollback wait
until the rollout ends, as with --wait.
  muster rollout status web -n shop
  muster rollout resume web -n shop --confirm-prune
Exits with 1 if there is no such Propagation, if the change is refused, or if
the rollout ends failed, paused, held or degraded.`;

/** Adds `muster rollout`: shows, pauses, resumes and rolls back a Propagation. */
export function addRolloutCommand(program: Commander, run: RunCommand): void {
  withGatewayOptions(withNamespace(program.command('rollout')))
    .description('show the rollout of a Propagation; pause it, resume it, roll it back')
    .addArgument(new Argument('<action>', 'the action').choices(actions))
    .argument('<name>', 'name of the Propagation')
    .addOption(new Option('-w, --watch <when>', 'status: wait until the rollout ends').choices(['true', 'false']).default('true'))
    .option('--wait', 'resume, rollback: wait until the rollout ends')
    .option('--revision <number>', 'rollback: the revision (default: the previous one)', wholeNumberParser(1, 999_999_999))
    .option('--confirm-prune', 'resume: allow the deletions that are held')
    .option('--abandon <cluster>', 'resume: give up the copies in this cluster, which stay there; may be repeated', collectValues)
    .addOption(new Option('-o, --output <format>', 'output format').choices([...documentFormats, 'name']))
    .addHelpText('after', help)
    .action((action: RolloutAction, word: string, flags: RolloutFlags) => {
      checkFlags(action, flags);
      const place = { name: nameOf(word), namespace: flags.namespace ?? 'default' };
      return run(flags, (session) => rollout(session, action, { place, flags }), { writes: action !== 'status' });
    });
}

async function rollout(session: Session, action: RolloutAction, { place, flags }: Pick<Change, 'place' | 'flags'>): Promise<number> {
  switch (action) {
    case 'status':
      return status(session, place, flags);
    case 'pause':
      return change(session, { place, flags, field: 'pausePropagation', word: 'paused' });
    case 'resume': {
      const { confirmPrune = false, abandon = null } = flags;
      const extra = { confirmPrune: { type: 'Boolean', value: confirmPrune }, abandon: { type: '[String!]', value: abandon } };
      return change(session, { place, flags, field: 'resumePropagation', word: 'resumed', extra });
    }
    case 'rollback': {
      const extra = { revision: { type: 'Int', value: flags.revision ?? null } };
      return change(session, { place, flags, field: 'rollbackPropagation', word: 'rolled back', extra });
    }
    default:
      throw action satisfies never;
  }
}

interface Change {
  readonly place: PropagationKey;
  readonly flags: RolloutFlags;
  readonly field: string;
  readonly word: string;
  readonly extra?: MutationInputs;
}

async function change(session: Session, { place, flags, field, word, extra }: Change): Promise<number> {
  const goesOn = field !== 'pausePropagation' && (session.ownsGateway || flags.wait === true);
  const mutation = { ...place, field, inputs: { ...keyInputs(place), ...extra } };
  return changePropagations(session, [mutation], { output: flags.output, word: () => word, until: goesOn ? 'settled' : 'accepted' });
}

async function status(session: Session, place: PropagationKey, { watch, output }: RolloutFlags): Promise<number> {
  const { terminal, clock } = session;
  if (watch === 'false' || output !== undefined) {
    const state = await stateOf(session, place);
    if (output === 'name') await terminal.out(`${printable(`propagation.muster.dev/${state.name}`)}\n`);
    else if (output !== undefined) await terminal.out(printAnswers([state], output));
    else {
      const lines = propagationLines(state, { nowMs: clock.now(), room: Number.POSITIVE_INFINITY, paint: paintFor(terminal) });
      const obstacles = endVerdict(state) === 'bad' ? obstacleLines(state).map((line) => `  ${printable(line)}`) : [];
      await terminal.out(textOfLines([...lines, ...obstacles]));
    }
    return exitCodes.good;
  }
  await stateOf(session, place);
  const followed = followFromNow(session, place);
  const [end] = await watchPropagations(session, [followed], showFor(session, [followed]));
  return reportEnd(session, end, followed) ? exitCodes.good : exitCodes.failed;
}

async function stateOf({ gateway }: Session, place: PropagationKey): Promise<ShownPropagation> {
  const query = `query ($namespace: String!, $name: String!) { propagation(namespace: $namespace, name: $name) { ${propagationFields} } }`;
  const { propagation } = await gateway.query<{ readonly propagation: ShownPropagation | null }>(query, { ...place });
  if (propagation === null)
    throw new CommandFailure(exitCodes.failed, `there is no Propagation ${place.name} in the namespace ${place.namespace} of the hub`);
  return propagation;
}

/** Returns `web` for `propagation/web`, which kubectl accepts too. */
function nameOf(word: string): string {
  const name = word.replace(/^prop(?:agations?)?(?:\.muster\.dev)?\//i, '');
  if (name.includes('/') || name === '') throw new CommandFailure(exitCodes.refused, `expected the name of a Propagation, got ${word}`);
  return name;
}

/** The actions that accept each flag. */
const owners: readonly { readonly flag: keyof RolloutFlags; readonly option: string; readonly actions: readonly RolloutAction[] }[] = [
  { flag: 'wait', option: '--wait', actions: ['resume', 'rollback'] },
  { flag: 'revision', option: '--revision', actions: ['rollback'] },
  { flag: 'confirmPrune', option: '--confirm-prune', actions: ['resume'] },
  { flag: 'abandon', option: '--abandon', actions: ['resume'] },
];

function checkFlags(action: RolloutAction, flags: RolloutFlags): void {
  const wrong = owners.find(({ flag, actions: its }) => flags[flag] !== undefined && !its.includes(action));
  if (wrong !== undefined)
    throw new CommandFailure(
      exitCodes.refused,
      `expected ${wrong.option} with rollout ${wrong.actions.join(' or ')}, got it with ${action}`,
    );
}
