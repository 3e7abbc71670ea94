const inOneCluster = (name: string) => `kubectl --context CLUSTER ${name} does it in one cluster`;
const useApply = 'muster apply -f creates objects';
const usePatch = 'muster patch, label and annotate change fields, and muster apply -f changes objects';

/** The alternative to each command of kubectl that Muster does not have. */
const alternatives: ReadonlyMap<string, string> = new Map([
  ['events', 'muster describe shows the events of an object, and muster get events --field-selector involvedObject.name=NAME lists them'],
  ['edit', usePatch],
  ['set', usePatch],
  ['replace', useApply],
  ['create', useApply],
  ['run', useApply],
  ['expose', useApply],
  ['autoscale', useApply],
  ['cluster-info', 'muster clusters shows the clusters'],
  ['api-versions', 'muster api-resources lists the API groups'],
  ...[
    'exec',
    'attach',
    'cp',
    'port-forward',
    'proxy',
    'debug',
    'top',
    'cordon',
    'uncordon',
    'drain',
    'taint',
    'certificate',
    'kustomize',
  ].map((name) => [name, inOneCluster(name)] as const),
]);

/** Returns the alternative to a command of kubectl. Undefined if kubectl has no such command, or Muster has it. */
export function alternativeTo(word: string): string | undefined {
  return alternatives.get(word);
}
