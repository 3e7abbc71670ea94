import path from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const source = path.join(import.meta.dirname, 'src');

/** The modules of the command line that most starts need. */
const everyday = new Set<string>();

/**
 * Builds the program: `src/main.ts` to `dist`. A start reads a few files then, and not one for each module. The code is not minified, so a
 * stack trace has the names of the source, but places of `dist`. `vite.config.ts` builds the console.
 */
export default defineConfig({
  publicDir: false,
  plugins: [placesOfSource(), quickBuiltIns(), collectEveryday()],
  // Every command uses the first one, and commands that follow changes use the second one. Other packages stay in node_modules.
  ssr: { noExternal: ['commander', 'graphql-ws'] },
  build: {
    ssr: 'src/main.ts',
    outDir: 'dist',
    emptyOutDir: true,
    target: 'esnext',
    minify: false,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      output: {
        chunkFileNames: '[name]-[hash].js',
        codeSplitting: { groups: [{ name: 'everyday', test: (id) => everyday.has(id) }] },
      },
    },
  },
});

/** Keeps `import.meta.url` the place of a module relative to the package: `dist` has the folders of `src` in names only. */
function placesOfSource(): Plugin {
  return {
    name: 'places-of-source',
    transform: (code, id) => {
      if (!id.startsWith(source) || !code.includes('import.meta.url')) return undefined;
      const place = `./${path.relative(source, id).replaceAll(path.sep, '/')}`;
      return { code: code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`), map: null };
    },
  };
}

/**
 * Takes the modules of Node with `process.getBuiltinModule`. An `import` reads every export of the module, also those that nobody uses, and
 * some of them load more: `import 'node:http'` loads undici, in 40 ms.
 */
function quickBuiltIns(): Plugin {
  return {
    name: 'quick-built-ins',
    renderChunk: (code) => {
      const quick = code.replaceAll(
        /^import (?:(\w\S*?)(?:, )?)?(?:\* as (\S+)|(\{.+\}))? from "(node:.+)";$/gm,
        (_, one, all, some, name) =>
          [one, all, some?.replaceAll(' as ', ': ')]
            .filter((taken) => taken !== undefined)
            // A module may have a `process` of its own.
            .map((taken) => `const ${taken} = globalThis.process.getBuiltinModule("${name}");`)
            .join(' '),
      );
      const left = /^(?:import |\} from ).*"node:.*$/m.exec(quick)?.[0];
      if (left !== undefined) throw new Error(`expected an import of one form, got ${left}`);
      return { code: quick, map: null };
    },
  };
}

/** Collects the modules that the command `list` and completion import. They become one file, because each file of a start takes 0.4 ms of CPU. */
function collectEveryday(): Plugin {
  return {
    name: 'collect-everyday',
    buildEnd() {
      const importsOf = (id: string) => this.getModuleInfo(id)?.importedIds ?? [];
      const commands = ['cli/commands/list.ts', 'cli/completion/run-completion.ts'].map((file) => path.join(source, file));
      // Not main itself: it waits at its top level, so a module that it imports then cannot be in its file.
      const waiting = [...commands, ...importsOf(path.join(source, 'main.ts'))];
      for (const id of waiting) {
        if (everyday.has(id)) continue;
        everyday.add(id);
        waiting.push(...importsOf(id));
      }
    },
  };
}
