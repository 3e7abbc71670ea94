import { type AnsweredKey, answeredKeyFields } from '../../core/columns/object-names.ts';
import { type IntentNote, noteFields } from '../../core/columns/plan-texts.ts';
import { type ClusterFault, faultFields } from '../client/cluster-faults.ts';
import { createTableColumns, type Paint } from '../output/table.ts';
import { noteLine } from '../propagation/plan-lines.ts';
import { plannedObjectLines, plannedObjectsFields, type ShownAppObjects } from './planned-objects.ts';

/** Pods and resources, as quantities. */
interface ShownRoom {
  readonly pods: number;
  readonly cpu: string;
  readonly memory: string;
}

interface ShownAppFigures {
  readonly key: AnsweredKey;
  readonly from: number;
  readonly to: number;
  readonly reason: string | null;
  readonly message: string | null;
  readonly needs: ShownRoom;
  readonly free: ShownRoom;
}

/** The plan of a migration with the fields that are shown to people. */
export interface ShownMigrationPlan {
  readonly digest: string;
  readonly ok: boolean;
  readonly needs: ShownRoom;
  readonly free: ShownRoom;
  readonly backup: ShownBackup | null;
  readonly apps: readonly (ShownAppFigures & ShownAppObjects & { readonly fits: boolean })[];
  readonly notes: readonly IntentNote[];
  readonly faults: readonly ClusterFault[];
}

interface ShownBackup {
  readonly cluster: string | null;
  readonly name: string;
  readonly ageSeconds: number | null;
}

/** The state of a Migration with the fields that are shown to people. */
export interface ShownMigration {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly digest: string;
  /** Null if the request did not create the Migration, and in the answer to the request that created it. */
  readonly createdAt: string | null;
  readonly apps: readonly (ShownAppFigures & { readonly step: string })[];
  readonly notes: readonly IntentNote[];
  readonly faults: readonly ClusterFault[];
}

const room = '{ pods cpu memory }';
const figures = `key { ${answeredKeyFields} } from to reason message needs ${room} free ${room}`;
const remarks = `notes { ${noteFields} } faults { ${faultFields} }`;

/** The GraphQL selection of a plan. `manifests`: also the objects, for programs. */
export function migrationPlanFields(of: 'summary' | 'manifests'): string {
  const backup = 'backup { cluster name completedAt ageSeconds }';
  return `digest ok asOf needs ${room} free ${room} ${backup} ${remarks} apps { ${figures} fits ${plannedObjectsFields(of)} }`;
}

/** The GraphQL selection that gives a `ShownMigration`. `objects`: also its spec and the objects in both clusters, for programs. */
export function migrationFields(of: 'summary' | 'objects'): string {
  const object = `{ key { ${answeredKeyFields} } state uid }`;
  const [spec, objects] = of === 'objects' ? ['spec', `source ${object} target ${object}`] : ['', ''];
  return `namespace name phase digest createdAt ${spec} ${remarks} apps { ${figures} step since ${objects} }`;
}

/**
 * Returns whether a migration in this phase has ended. `good`: it is done. `bad`: it failed, or waits for a user. Undefined: the phase will change by
 * itself.
 */
export function migrationEnd({ phase }: Pick<ShownMigration, 'phase'>): 'good' | 'bad' | undefined {
  if (phase === 'SETTLED') return 'good';
  return ['PAUSED', 'FAILED', 'DEGRADED', 'HELD'].includes(phase) ? 'bad' : undefined;
}

/** True if the migration was undone, so that its applications run in the source again. */
export function isUndone({ phase, apps }: Pick<ShownMigration, 'phase' | 'apps'>): boolean {
  return phase === 'SETTLED' && apps.some(({ step }) => step === 'UNDONE');
}

/** Returns the lines of a plan for people: a table of applications, their objects, the notes, and the digest. */
export function migrationPlanLines(plan: ShownMigrationPlan, paint: Paint): readonly string[] {
  const columns = createTableColumns(['APP', 'FITS', 'REPLICAS', 'NEEDS', 'FREE', 'WHY']);
  const rows = plan.apps.map((app) => [
    appName(app.key),
    app.fits ? 'yes' : 'no',
    `${app.from}→${app.to}`,
    roomText(app.needs),
    roomText(app.free),
    whyText(app),
  ]);
  const table = columns.lines(rows, (text, { row }) =>
    row === -1 ? paint(1, text) : plan.apps[row]?.fits === true ? text : paint(31, text),
  );
  const sum = plan.apps.length === 0 ? [] : [`needs ${roomText(plan.needs)} of ${roomText(plan.free)} free`];
  const objects = plan.apps.flatMap((app) => plannedObjectLines(appName(app.key), app));
  const parts = [table, objects, [...backupLines(plan.backup), ...sum, ...otherNotes(plan).map(noteLine)], [`digest: ${plan.digest}`]];
  return parts.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

/** Returns the lines of a state for people: the phase, a table of applications, and the notes. */
export function migrationLines(state: ShownMigration, paint: Paint): readonly string[] {
  const columns = createTableColumns(['APP', 'STEP', 'REPLICAS', 'WHY']);
  const rows = state.apps.map((app) => [appName(app.key), app.step, `${app.from}→${app.to}`, whyText(app)]);
  const table = columns.lines(rows, (text, { row }) =>
    row === -1 ? paint(1, text) : state.apps[row]?.reason === null ? text : paint(31, text),
  );
  return [`${state.namespace}/${state.name}: ${state.phase}`, ...table, ...otherNotes(state).map(noteLine), ...hintsOf(state)];
}

function hintsOf({ namespace, name, phase }: ShownMigration): readonly string[] {
  if (phase !== 'PAUSED') return [];
  return [`  continue with the same flags and --name ${name}; or undo it with: muster migrate undo ${name} -n ${namespace}`];
}

/** Returns a line for each application whose step or reason differs from the state before. */
export function changedAppLines(before: ShownMigration | undefined, after: ShownMigration): readonly string[] {
  const known = new Set((before?.apps ?? []).map(appLine));
  return after.apps.map(appLine).filter((line) => !known.has(line));
}

function appLine(app: ShownMigration['apps'][number]): string {
  const why = whyText(app);
  return `${appName(app.key)} ${app.step}${why === '' ? '' : `: ${why}`}`;
}

/** Returns the notes to print. A note that repeats the reason of an application is left out, because the table shows the reason. */
function otherNotes({ apps, notes }: Pick<ShownMigration, 'notes'> & { readonly apps: readonly ShownAppFigures[] }): readonly IntentNote[] {
  return notes.filter(
    ({ code, message }) => !apps.some((app) => app.reason === code && app.message !== null && message.endsWith(app.message)),
  );
}

function backupLines(backup: ShownBackup | null): readonly string[] {
  if (backup === null) return [];
  const age = backup.ageSeconds === null ? '' : `, ${ageText(backup.ageSeconds)} old`;
  return [`backup: ${backup.name}${backup.cluster === null ? '' : ` from ${backup.cluster}`}${age}`];
}

function ageText(seconds: number): string {
  if (seconds < 7_200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} hours` : `${Math.round(seconds / 86_400)} days`;
}

function whyText({ reason, message }: ShownAppFigures): string {
  return [reason, message].filter((part) => part !== null).join(' ');
}

function appName({ kind, namespace, name }: AnsweredKey): string {
  return `${namespace === null ? '' : `${namespace}/`}${kind.toLowerCase()}/${name}`;
}

function roomText({ pods, cpu, memory }: ShownRoom): string {
  const parts = [`${pods} ${pods === 1 ? 'Pod' : 'Pods'}`, ...(cpu === '0' ? [] : [`${cpu} CPU`]), ...(memory === '0' ? [] : [memory])];
  return parts.join(' ');
}
