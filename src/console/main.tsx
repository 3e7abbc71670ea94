import './styles/base.css';
import './styles/layout.css';
import './styles/table.css';
import './styles/parts.css';
import './styles/object.css';
import './styles/propagation.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { followLinks } from './browser/location.ts';
import { startClock } from './browser/now.ts';
import { startTheme } from './browser/theme.ts';
import { startHotkeys } from './keys/hotkeys.ts';

startTheme();
startClock();
followLinks();
startHotkeys();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
