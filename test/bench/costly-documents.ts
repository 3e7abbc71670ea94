/** An operation whose cost is close to the limit. */
export interface CostlyDocument {
  readonly name: string;
  readonly type: 'query' | 'subscription';
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const hundred = Array.from({ length: 100 }, (_, index) => index);
const roots = (field: string) => Array.from({ length: 10 }, (_, index) => `r${index}: ${field}`).join(' ');
const env = 'spec.containers.env.value';

/** Filters for 100 texts. No value contains any of them, so all are searched for. */
const texts = hundred.map((index) => ({ path: env, contains: `nothing-${index}` }));
const inside = {
  path: 'spec.containers',
  some: { path: 'env', some: { or: hundred.slice(1).map((n) => ({ path: 'value', contains: `nothing-${n}` })) } },
};
const lists = [
  'env.value',
  'env.name',
  'image',
  'ports.name',
  'volumeMounts.name',
  'volumeMounts.mountPath',
  'ports.protocol',
  'ports.containerPort',
];
const orderBy = lists.map((path) => ({ path: `spec.containers.${path}` }));
const leaves = `metadata { name labels annotations(keys: $keys) } status { phase podIP conditions { type status lastTransitionTime } } spec { nodeName
  containers { name image env { name value } ports { name containerPort protocol } volumeMounts { name mountPath } } tolerations { key operator effect } }`;

/** The most expensive documents that the limits allow, one per kind of work. For 3 × 20,000 pods with 24 environment variables. */
export const costlyDocuments: readonly CostlyDocument[] = [
  {
    name: 'a hundred texts among the values of lists',
    type: 'query',
    query: 'query ($where: Where) { pods(where: $where, first: 1) { totalCount } }',
    variables: { where: { or: texts } },
  },
  {
    name: 'some inside some, in ten roots',
    type: 'query',
    query: `query ($where: Where) { ${roots('pods(where: $where, first: 1) { totalCount }')} }`,
    variables: { where: inside },
  },
  {
    name: 'orders by eight list paths, in ten roots',
    type: 'query',
    query: `query ($orderBy: [OrderBy!]) { ${roots('pods(orderBy: $orderBy, first: 500) { totalCount }')} }`,
    variables: { orderBy },
  },
  {
    name: 'groups with sums, and sums of each group',
    type: 'query',
    query: `{ pods(first: 1) { groups(by: ["metadata.name", "${env}"], first: 500) { keys sum(path: "spec.priority") { text } } } }`,
  },
  {
    name: 'a filter by owners and nodes',
    type: 'query',
    query: `query ($where: Where) { ${roots('pods(where: $where, first: 1) { totalCount }')} }`,
    variables: { where: { or: hundred.slice(50).map((n) => ({ path: 'owner.metadata.name', contains: `nothing-${n}` })) } },
  },
  {
    name: 'pages of 500 with many fields',
    type: 'query',
    query: `query ($keys: [String!]!) { ${roots('pods(first: 500) { items { ...Leaves } }')} } fragment Leaves on Pod { ${leaves} }`,
    variables: { keys: hundred.map((n) => `key-${n}`) },
  },
  {
    name: 'a subscription with some inside some',
    type: 'subscription',
    query: 'subscription ($where: Where) { pods(where: $where) { type added { metadata { name } } } }',
    variables: { where: inside },
  },
];
