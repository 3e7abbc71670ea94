import path from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const source = path.join(import.meta.dirname, 'src');

/**
 * Builds the program: `src/main.ts` to `dist`. A start reads a few files then, and not one for each module. The code is not minified, so a
 * stack trace has the names of the source. `vite.config.ts` builds the console.
 */
export default defineConfig({
  publicDir: false,
  plugins: [placesOfSource(), quickBuiltIns()],
  // Every command uses the first one, and commands that follow changes use the second one. Other packages stay in node_modules.
  ssr: { noExternal: ['commander', 'graphql-ws'] },
  build: {
    ssr: 'src/main.ts',
    outDir: 'dist',
    emptyOutDir: true,
    target: 'esnext',
    minify: false,
    license: { fileName: 'licenses.md' },
    rolldownOptions: { output: { chunkFileNames: '[name]-[hash].js' } },
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
      const quick = code.replaceAll(/^import (?:(\w\S*)|\* as (\S+)|(\{.+\})) from "(node:.+)";$/gm, (_, one, all, some, name) => {
        const taken = one ?? all ?? some.replaceAll(' as ', ': ');
        return `const ${taken} = process.getBuiltinModule("${name}");`;
      });
      const left = /^import .*"node:.*$/m.exec(quick)?.[0];
      if (left !== undefined) throw new Error(`expected an import of one form, got ${left}`);
      return { code: quick, map: null };
    },
  };
}
