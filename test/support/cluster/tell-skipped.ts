import type { TestProject } from 'vitest/node';
import { realServerTitle } from './real-cluster.ts';

/** Vitest's global setup. At the end of a run it reports how many cases were skipped without a real API server, and how to get one. */
export default function tellSkipped(project: TestProject): () => void {
  return () => {
    const modules = project.vitest.state.getTestModules();
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const skipped = tests.filter((test) => test.result().state === 'skipped' && test.fullName.includes(realServerTitle)).length;
    if (skipped === 0) return;
    console.log(
      `${skipped} cases against ${realServerTitle} were skipped: set KUBEBUILDER_ASSETS to a folder with kube-apiserver and etcd ` +
        '(controller-runtime: `setup-envtest use -p path`; see CONTRIBUTING.md) to run them.',
    );
  };
}
