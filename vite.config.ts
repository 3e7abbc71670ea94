import { defineConfig } from 'vite';

/** Builds the console: `src/console` to `dist/console`. The tests have a configuration of their own (vitest.config.ts). */
export default defineConfig({
  root: 'src/console',
  publicDir: false,
  build: {
    outDir: '../../dist/console',
    emptyOutDir: true,
    target: 'es2024',
    // The content security policy forbids inline data, except images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: false,
  },
});
