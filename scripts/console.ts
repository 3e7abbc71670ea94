import { existsSync } from 'node:fs';

// Builds the console before the first `npm start`, for an install with `--ignore-scripts`. `npm run build` builds it anew.
if (!existsSync('dist/console/index.html')) {
  const { build } = await import('vite');
  await build({ logLevel: 'error' });
}
