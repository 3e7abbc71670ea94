import type { User } from '../../access/access.ts';
import type { RightAnswer } from '../../access/rights/own-rights.ts';
import { MusterError } from '../../core/errors.ts';
import { describeValue } from '../../core/json.ts';
import type { ClusterView } from '../../load/reads/reads.ts';
import { kindByAnyName } from '../../model/any-name.ts';
import type { GraphBuilder } from '../builder/builder.ts';
import type { ObjectRefOf } from '../builder/pothos.ts';
import { chargeList } from '../context/budget.ts';
import type { GraphContext } from '../context/context.ts';

/** The caller of the operation. `user` is undefined in local mode. */
interface CallerView {
  readonly user: User | undefined;
}

/** The answer of one cluster about a right. */
interface RightInCluster extends RightAnswer {
  readonly cluster: ClusterView;
}

/** The arguments of `canI`, as they come from GraphQL. */
interface CanIArguments {
  readonly verb: string;
  readonly kind: string;
  readonly name?: string | null | undefined;
  readonly namespace?: string | null | undefined;
  readonly subresource?: string | null | undefined;
  readonly clusters?: readonly string[] | null | undefined;
}

/** The cost of one answer of `canI`, as a number of objects, in addition to its element of the list: each answer needs a request to a cluster. */
const answerCost = 9;

/** Adds `Query.whoami` and `Query.canI`. Both are about the caller of the operation only. */
export function addOwnRights(builder: GraphBuilder): void {
  const caller = addCaller(builder);
  const answer = addAnswer(builder);
  builder.pothos.queryFields((t) => ({
    whoami: t.field({
      type: caller,
      nullable: false,
      description: 'Your user, as the gateway sees it.',
      resolve: (_root, _args, { read }): CallerView => ({ user: read.caller.user }),
    }),
    canI: t.field({
      type: [answer],
      nullable: false,
      description:
        'Whether you may do something: one answer for each cluster that you may see, ordered by the name of the cluster. The API servers ' +
        'decide. The question is always about you, never about another user.',
      args: {
        verb: t.arg.string({ required: true, description: 'The verb, such as `get`, `list`, `watch`, `create`, `patch` or `delete`.' }),
        kind: t.arg.string({
          required: true,
          description: 'The kind, by any of its names, such as `pods`, `deploy` or `Certificate.cert-manager.io`.',
        }),
        name: t.arg.string({ description: 'The name of one object. Default: all objects of the kind.' }),
        namespace: t.arg.string({ description: 'The namespace. Default: all namespaces together.' }),
        subresource: t.arg.string({ description: 'The subresource, such as `log` or `scale`. Default: the objects themselves.' }),
        clusters: t.arg.stringList({ description: 'Only these clusters. Default: all clusters that you may see.' }),
      },
      resolve: (_root, args, context) => answersOf(args, builder, context),
    }),
  }));
}

async function answersOf(args: CanIArguments, { model }: GraphBuilder, context: GraphContext) {
  const { rights, reads, read, budget } = context;
  const verb = wordOf('verb', args.verb);
  const kind = kindByAnyName(model, args.kind);
  const subresource = args.subresource == null ? undefined : wordOf('subresource', args.subresource);
  const namespace = args.namespace == null ? undefined : nameOf('namespace', args.namespace);
  const name = args.name == null ? undefined : nameOf('name', args.name);
  const clusters = reads.clusters(read, { names: args.clusters });
  budget.charge(clusters.length * answerCost);
  const question = { caller: read.caller, verb, kind: { group: kind.group, kind: kind.kind }, subresource, namespace, name };
  const answers = clusters.map(
    async (cluster): Promise<RightInCluster> => ({
      cluster,
      ...(await rights.explain({ ...question, cluster: cluster.name }, read.signal)),
    }),
  );
  return chargeList(await Promise.all(answers), context);
}

/**
 * Returns the value.
 *
 * @throws {MusterError} `BAD_INPUT` if it cannot be a verb or a subresource.
 */
function wordOf(argument: string, value: string): string {
  if (/^(\*|[a-z][a-z0-9/-]{0,62})$/.test(value)) return value;
  throw new MusterError(
    'BAD_INPUT',
    `${argument}: expected a word in lower case such as ${argument === 'verb' ? 'list' : 'log'}, got ${describeValue(value)}`,
  );
}

/**
 * Returns the value. It may have upper-case letters and colons, as names of RBAC objects do.
 *
 * @throws {MusterError} `BAD_INPUT` if no object can have this name.
 */
function nameOf(argument: string, value: string): string {
  if (/^[^\s/%]{1,253}$/.test(value)) return value;
  throw new MusterError('BAD_INPUT', `${argument}: expected a name of 1 to 253 characters, got ${describeValue(value)}`);
}

function addCaller({ pothos }: GraphBuilder): ObjectRefOf<CallerView> {
  return pothos.objectRef<CallerView>('Caller').implement({
    description: 'The user of a request, as the gateway knows the user after authentication.',
    fields: (t) => ({
      local: t.boolean({
        nullable: false,
        description: 'True in local mode: there is no authentication, and every caller has the rights of the kubeconfig of the gateway.',
        resolve: ({ user }) => user === undefined,
      }),
      name: t.string({
        description: 'The name of the user, with the prefix of the issuer, such as `oidc:alice`. Null in local mode.',
        resolve: ({ user }) => user?.user,
      }),
      uid: t.string({ description: 'The uid of the user. Null if the credential has none.', resolve: ({ user }) => user?.uid }),
      groups: t.stringList({
        nullable: false,
        description: 'The groups of the user, sorted, with the prefix of the issuer. Groups that API servers add are left out.',
        resolve: ({ user }) => user?.groups ?? [],
      }),
      issuer: t.string({
        description: 'The source of the identity: the URL of an OIDC issuer, `tokenreview`, `certificate` or `proxy`. Null in local mode.',
        resolve: ({ user }) => user?.issuer,
      }),
    }),
  });
}

function addAnswer({ pothos, types }: GraphBuilder): ObjectRefOf<RightInCluster> {
  return pothos.objectRef<RightInCluster>('AccessAnswer').implement({
    description: 'The answer of one cluster to the question whether you may do something.',
    fields: (t) => ({
      cluster: t.field({ type: types.cluster, nullable: false, description: 'The cluster.', resolve: ({ cluster }) => cluster }),
      allowed: t.boolean({
        description: 'True if you may do it. Null if the cluster did not answer.',
        resolve: ({ isAllowed }) => isAllowed,
      }),
      reason: t.exposeString('reason', {
        nullable: false,
        description:
          'The binding and the rule that allow it, the reason of a denial, or why the cluster did not answer. Bindings that do not name you are ' +
          'shown only if you may list bindings.',
      }),
      namespaces: t.exposeStringList('namespaces', {
        nullable: false,
        description: 'If you may not do it in all namespaces together: the namespaces in which you may. Else empty.',
      }),
    }),
  });
}
