import type { TestProject } from 'vitest/node';
import { browserTitle } from '../browser.ts';
import { realServerTitle } from './real-cluster.ts';

/** Vitest's global setup. At the end of a run it reports how many cases were skipped, and what they need. */
export default function reportSkipped(project: TestProject): () => void {
  return () => {
    const modules = project.vitest.state.getTestModules();
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const skipped = (title: string) => tests.filter((test) => test.result().state === 'skipped' && test.fullName.includes(title)).length;
    const [withoutServer, withoutBrowser] = [skipped(realServerTitle), skipped(browserTitle)];
    if (withoutServer > 0)
      console.log(
        `${withoutServer} cases against ${realServerTitle} were skipped: set KUBEBUILDER_ASSETS to a folder with kube-apiserver and etcd ` +
          '(controller-runtime: `setup-envtest use -p path`; see CONTRIBUTING.md) to run them.',
      );
    if (withoutBrowser > 0)
      console.log(
        `${withoutBrowser} cases in ${browserTitle} were skipped: install Chromium as /usr/bin/chromium, or set CHROMIUM, to run them.`,
      );
  };
}
