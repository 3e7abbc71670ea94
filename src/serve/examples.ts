import type { ExampleQuery } from './graphiql.ts';

const glance: ExampleQuery = {
  title: 'every cluster at a glance',
  query: `# Every cluster at a glance: its version, how it is, and why.
query Clusters {
  clusters {
    name
    version
    phase
    ageSeconds
    region
    faults { code message }
  }
}
`,
};

const unwell: ExampleQuery = {
  title: 'the pods that are not well, in all clusters',
  query: `# The pods that are not well, in all clusters. A cluster that cannot answer fails nothing: see sync and faults.
query Unwell {
  pods(where: { path: "status.phase", in: ["Pending", "Failed", "Unknown"] }, orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }], first: 50) {
    totalCount
    items {
      cluster { name }
      metadata { namespace name creationTimestamp }
      spec { nodeName containers { name image } }
      status { phase reason message }
    }
    sync { cluster { name } phase ageSeconds }
    faults { code cluster { name } message }
  }
}
`,
};

const deployments: ExampleQuery = {
  title: 'the largest Deployments, with their images',
  query: `# The largest Deployments over all clusters, with their images.
query Deployments {
  deployments(orderBy: [{ path: "spec.replicas", direction: DESC }, { path: "metadata.name" }], first: 20) {
    totalCount
    items {
      cluster { name }
      metadata { namespace name label(key: "app") }
      spec { replicas template { spec { containers { image } } } }
      status { availableReplicas updatedReplicas }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`,
};

const warnings: ExampleQuery = {
  title: 'what went wrong lately',
  query: `# What went wrong lately: warnings of all clusters, the newest first.
query Warnings {
  events(where: { path: "type", eq: "Warning" }, orderBy: [{ path: "lastTimestamp", direction: DESC }], first: 20) {
    items {
      cluster { name }
      involvedObject { kind namespace name }
      reason
      message
      count
      lastTimestamp
    }
  }
}
`,
};

const search: ExampleQuery = {
  title: 'objects of several kinds by their name',
  query: `# Objects of several kinds whose name or labels hold a text, whatever their type.
query Search($text: String!) {
  resources(kinds: ["deploy", "svc", "cm", "ingresses.networking.k8s.io"], search: $text, first: 20) {
    totalCount
    items {
      id
      kind
      apiVersion
      cluster { name }
      metadata { namespace name }
      ... on Deployment { spec { replicas } }
      ... on Service { spec { type clusterIP } }
    }
  }
}
`,
  variables: '{\n  "text": "a"\n}',
};

const kinds: ExampleQuery = {
  title: 'what can be asked for',
  query: `# What can be asked for: every kind with its fields here, custom ones too, and what Muster says of itself.
query Kinds {
  gateway { version demo schemaHash schemaProblem }
  kinds { group kind plural shortNames source type many one }
}
`,
};

const jobs: ExampleQuery = {
  title: 'all Jobs, live',
  query: `# All Jobs of all clusters, live: each message says what
# changed in one cluster, and how many there are by now.
# To go on after a break, give the last cursor as after.
subscription Jobs($after: String) {
  jobStatus(after: $after) {
    type
    cluster { name }
    fault { code message }
    added { id namespace name phase active succeeded failed }
    modified { id namespace name phase active succeeded failed }
    deleted { id }
    summary { total stale byPhase { phase count } }
    cursor
  }
}
`,
};

const changes: ExampleQuery = {
  title: 'what happens to pods',
  query: `# What happens to the pods of all clusters: first what is
# there (INITIAL, then SYNCED), then each change (LIVE).
subscription PodChanges($after: String) {
  pods(after: $after) {
    type
    cluster { name }
    fault { code message }
    added { id metadata { namespace name } status { phase } }
    modified { id metadata { namespace name } status { phase reason } }
    deleted { id }
    cursor
  }
}
`,
};

/** One ConfigMap for every cluster, with another text in one region. */
const intent = `{
  "input": {
    "namespace": "default",
    "name": "greeting",
    "template": [
      { "json": { "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "greeting" }, "data": { "text": "hello" } } }
    ],
    "placement": {},
    "overrides": [
      {
        "name": "the us",
        "set": { "fields": [{ "field": "REGION", "operator": "IN", "values": ["us-east-1"] }] },
        "jsonPatch": [{ "op": "replace", "path": "/data/text", "value": "howdy" }]
      }
    ]
  }
}`;

const plan: ExampleQuery = {
  title: 'what an intent would do',
  query: `# What an intent would do in each cluster, by the word of its API server. It writes nothing.
# The digest, given to propagate, has exactly this done, or nothing.
query Plan($input: PropagationInput!) {
  planPropagation(input: $input) {
    ok
    digest
    waves
    notes { severity code message path }
    clusters {
      cluster { name }
      chosen
      reason
      detail
      overrides
      objects { key { kind name } action diff conflicts { manager path } fault { code message } }
    }
  }
}
`,
  variables: intent,
};

const propagate: ExampleQuery = {
  title: 'an intent, done and kept true',
  query: `# Records an intent on the hub: it is done, and kept true from then on.
# To take it back: mutation { deletePropagation(namespace: "default", name: "greeting") { result } }
mutation Propagate($input: PropagationInput!, $digest: String) {
  propagate(input: $input, digest: $digest) {
    result
    propagation { name phase generation }
    notes { severity code message path }
    faults { code cluster { name } message }
  }
}
`,
  variables: intent,
};

const progress: ExampleQuery = {
  title: 'how far an intent is, live',
  query: `# How far an intent is: all of it at once, then after each change.
subscription Progress {
  propagation(namespace: "default", name: "greeting") {
    name
    phase
    progress { wave waves clusters done failed }
    clusters { cluster { name } phase reason message objects { key { kind name } state } }
  }
}
`,
};

/** What GraphiQL opens with: a tab each. */
export const exampleQueries: readonly ExampleQuery[] = [
  glance,
  unwell,
  deployments,
  jobs,
  changes,
  plan,
  propagate,
  progress,
  warnings,
  search,
  kinds,
];

/** The three that the terminal shows over the embedded fleet. */
export const demoQueries: readonly ExampleQuery[] = [glance, unwell, deployments];
