// Imports Deployments that Karmada policies select, and compares that with parsing the same YAML and printing the result as JSON.
//   import-policies.ts DEPLOYMENTS POLICIES
import { printYaml } from '../../../src/core/json/print-yaml.ts';
import { clusterName } from '../../../src/core/names.ts';
import { runAtOnce } from '../../../src/core/scheduling/operation-scheduler.ts';
import { importText } from '../../../src/importers/translation/import-documents.ts';
import { readYamlDocuments } from '../../../src/manifests/yaml-documents.ts';
import { cpuNow, cpuSince, finish } from '../support/measuring.ts';

const deployments = Number(process.argv[2] ?? '1000');
const policies = Number(process.argv[3] ?? '100');
const rounds = 3;

const names = ['member1', 'member2', 'member3'];
const clusters = names.map((name) => ({ name: clusterName(name), labels: {} }));
// A list counts as one document, and a text has at most 1,000 documents.
const list = { apiVersion: 'v1', kind: 'List', items: Array.from({ length: deployments }, (_, index) => deploymentOf(index)) };
const text = [list, ...Array.from({ length: policies }, (_, index) => policyOf(index))].map(printYaml).join('---\n');

const result = imported();
if (result.propagations.length !== deployments) {
  throw new Error(`expected ${deployments} Propagations, got ${result.propagations.length}: ${JSON.stringify(result.notes[0])}`);
}
finish({
  importMs: perRun(imported),
  parseMs: perRun(() => readYamlDocuments(text)),
  printMs: perRun(() => JSON.stringify(result)),
});

function imported() {
  return runAtOnce(importText(text, { isExact: false, clusters }));
}

function perRun(run: () => unknown): number {
  run();
  const start = cpuNow();
  for (let round = 0; round < rounds; round += 1) run();
  return cpuSince(start).main / rounds;
}

function deploymentOf(index: number) {
  const name = `web-${index}`;
  const labels = { app: name, team: `team-${index % policies}` };
  const containers = [{ name: 'web', image: 'registry.example.com/web:1.0', ports: [{ containerPort: 8080 }] }];
  const spec = { replicas: 3, selector: { matchLabels: { app: name } }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'shop', labels }, spec };
}

/** Every policy selects the Deployments of one team by a label. */
function policyOf(index: number) {
  const labelSelector = { matchLabels: { team: `team-${index}` } };
  const staticWeightList = names.map((name, at) => ({ targetCluster: { clusterNames: [name] }, weight: at + 1 }));
  const replicaScheduling = {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { staticWeightList },
  };
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name: `team-${index}`, namespace: 'shop' },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', labelSelector }],
      placement: { clusterAffinity: { clusterNames: names }, replicaScheduling },
    },
  };
}
