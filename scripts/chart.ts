/**
 * `npm run chart`: creates what deploy/chart has in common with other files, and deploy/muster.yaml from the chart.
 *
 * The definitions come from deploy/crds, the rules of roles from deploy/rbac and from `muster join --write`, and the schema of `config` from
 * schema/config.schema.json. The home page and the image come from `homepage` in package.json. Only deploy/muster.yaml needs Helm: the
 * program that HELM names, else the one in the cache. Without Helm the file stays as it is.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { Json, JsonObject } from '../src/core/json.ts';
import { writeRules } from '../src/registration/member-rights.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

const written = '`npm run chart` writes this file.';

/** The folder of the chart, in the repository. */
export const chartFolder = 'deploy/chart';

/** The values of deploy/muster.yaml. */
export const publishedValues = ['--namespace', 'muster-system', '--set', 'auth.existingSecret=muster-token'];

/** The path of Helm: HELM, else the cache. Undefined if it is in neither. */
export function helmProgram(environment: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const cached = path.join(environment.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'muster/helm-v4.3.1/helm');
  return [environment.HELM, cached].find((file) => file !== undefined && existsSync(file));
}

/** The parts of the chart that are made from other files, by their path in the repository. */
export function chartFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const file of readdirSync(path.join(root, 'deploy/crds')).filter((name) => name.endsWith('.yaml') && name !== 'admission.yaml'))
    files.set(`${chartFolder}/files/crds/${file}`, keptDefinition(read(`deploy/crds/${file}`)));
  for (const [name, { file, role }] of Object.entries(roles))
    files.set(`${chartFolder}/files/${name}.yaml`, `# ${written}\n${stringify(rulesOf(file, role), { lineWidth: 0 })}`);
  files.set(`${chartFolder}/files/writer.yaml`, `# ${written}\n${stringify(writeRules(), { lineWidth: 0, aliasDuplicateObjects: false })}`);
  files.set(`${chartFolder}/templates/admission.yaml`, admissionTemplate(read('deploy/crds/admission.yaml')));
  files.set(`${chartFolder}/values.schema.json`, `${JSON.stringify(valuesSchema(), undefined, 2)}\n`);
  const { version, homepage } = JSON.parse(read('package.json')) as { readonly version: string; readonly homepage: string };
  const chart = read(`${chartFolder}/Chart.yaml`).replaceAll(/(?<=^(?:version|appVersion): ).*$/gm, version);
  files.set(`${chartFolder}/Chart.yaml`, chart.replace(/(?<=^home: ).*$/m, homepage));
  const repository = `ghcr.io${new URL(homepage).pathname.toLowerCase()}`;
  files.set(`${chartFolder}/values.yaml`, read(`${chartFolder}/values.yaml`).replace(/(?<=^ {2}repository: ).*$/m, repository));
  return files;
}

/** The roles of deploy/rbac whose rules the chart has too. */
const roles = {
  reader: { file: 'member', role: 'muster-reader' },
  impersonator: { file: 'member', role: 'muster-impersonator' },
  hub: { file: 'hub', role: 'muster-hub' },
  importers: { file: 'importers', role: 'muster-importers' },
} as const;

function rulesOf(file: string, role: string): Json {
  const documents = parseAllDocuments(read(`deploy/rbac/${file}.yaml`)).map((document) => document.toJS() as JsonObject);
  const found = documents.find(({ kind, metadata }) => kind === 'ClusterRole' && (metadata as JsonObject).name === role);
  if (found?.rules === undefined) throw new Error(`deploy/rbac/${file}.yaml: expected the ClusterRole ${role}`);
  return found.rules;
}

/** Adds the annotation with which Helm keeps a definition, and its resources, when the release is uninstalled. */
function keptDefinition(text: string): string {
  return text.replace('\nmetadata:\n', '\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n');
}

/** Makes a template of the admission policies. The policies of a release trust the account of this release only. */
function admissionTemplate(text: string): string {
  const policies = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('propagations.muster.dev', '{{ $policy }}')
    .replaceAll('state.muster.dev', 'state.{{ $policy }}')
    .replaceAll('name: muster-gateway', 'name: {{ include "muster.fullname" . }}-gateway')
    .replaceAll('namespace: muster-system', 'namespace: {{ .Release.Namespace }}');
  return `{{- /* ${written} */ -}}
{{- if hasKey .Values.config "authentication" }}
{{- $policy := printf "%s.%s.muster.dev" .Release.Namespace (include "muster.fullname" .) }}
# The account that may name another requester than itself in Propagations and Migrations.
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "muster.fullname" . }}-gateway
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "muster.labels" . | nindent 4 }}
data:
  username: system:serviceaccount:{{ .Release.Namespace }}:{{ include "muster.serviceAccount" . }}
---
${policies.trimEnd()}
{{- end }}
`;
}

/** Returns the schema of the values: the part written by hand, with the keys of the config file. */
function valuesSchema(): JsonObject {
  const base = parse(read('scripts/chart-values.yaml')) as JsonObject;
  const { properties } = JSON.parse(read('schema/config.schema.json')) as { readonly properties: JsonObject };
  const { inventories = { type: 'array', items: { type: 'object' } } } = properties;
  const config = { type: 'object', properties, additionalProperties: false };
  return forHelm({ ...base, properties: { ...(base.properties as JsonObject), config, inventories } }) as JsonObject;
}

/** Leaves out patterns with a lookahead, which Helm's regular expressions do not have. The gateway checks them when it starts. */
function forHelm(value: Json): Json {
  if (Array.isArray(value)) return value.map(forHelm);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value as JsonObject).filter(([key, member]) => key !== 'pattern' || !/\(\?[!=<]/.test(String(member)));
  return Object.fromEntries(kept.map(([key, member]) => [key, forHelm(member as Json)]));
}

/** Returns the text of deploy/muster.yaml: the namespace, and the output of the chart. */
export function publishedManifests(helm: string): string {
  const rendered = execFileSync(helm, ['template', 'muster', path.join(root, chartFolder), ...publishedValues], { encoding: 'utf8' });
  return `# ${written} It is the output of the chart with auth.existingSecret=muster-token. Make that Secret before:
#   kubectl create namespace muster-system
#   kubectl -n muster-system create secret generic muster-token --from-literal=token="$(openssl rand -hex 32)"
#   kubectl apply --server-side -f deploy/muster.yaml
apiVersion: v1
kind: Namespace
metadata:
  name: muster-system
  labels:
    pod-security.kubernetes.io/enforce: restricted
${rendered}`;
}

if (import.meta.main) {
  for (const [file, text] of chartFiles()) writeFileSync(path.join(root, file), text);
  const helm = helmProgram();
  if (helm === undefined) console.error('deploy/muster.yaml stays as it is: expected Helm in HELM');
  else writeFileSync(path.join(root, 'deploy/muster.yaml'), publishedManifests(helm));
}
