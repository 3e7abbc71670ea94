import { signal } from '@preact/signals';
import { navigate } from '../browser/location.ts';
import { moveInMainTable } from '../table/row-focus.ts';

/** True while the dialog with all keys is shown. */
export const showsHelp = signal(false);

/** The keys that are shown in the dialog. */
export const hotkeys: readonly (readonly [keys: string, meaning: string])[] = [
  ['/', 'to the search box; Esc leaves it'],
  ['j k', 'to the next and the previous row'],
  ['Enter', 'opens the row'],
  ['g f', 'to the fleet'],
  ['g o', 'to the objects'],
  ['g j', 'to the Jobs'],
  ['g p', 'to the Propagations'],
  ['?', 'shows these keys; Esc closes them'],
];

const pages: Readonly<Record<string, string>> = { f: '/', o: '/objects', j: '/jobs', p: '/propagations' };

/** Longest time between `g` and the key of a page. */
const secondKeyMs = 2_000;

/** Starts to listen to keys. Keys have no effect while the user types, in a dialog, or with Ctrl, Alt or Meta. Call this once. */
export function startHotkeys(): void {
  let firstKeyMs = Number.NEGATIVE_INFINITY;
  document.addEventListener('keydown', (event) => {
    const { key, target, timeStamp } = event;
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (key === 'Escape' && isSearchBox(target)) {
      // The browser would clear the box.
      event.preventDefault();
      target.blur();
      return;
    }
    if (isTyping(target) || document.querySelector('dialog[open]') !== null) return;
    const page = timeStamp - firstKeyMs < secondKeyMs ? pages[key] : undefined;
    firstKeyMs = key === 'g' ? timeStamp : Number.NEGATIVE_INFINITY;
    if (page !== undefined) navigate(page);
    else if (!press(key)) return;
    event.preventDefault();
  });
}

/** Runs the action of a single key. Returns false if the key has no action. */
function press(key: string): boolean {
  switch (key) {
    case '/':
      document.querySelector<HTMLInputElement>('input[type=search]')?.focus();
      return true;
    case 'j':
      moveInMainTable(1);
      return true;
    case 'k':
      moveInMainTable(-1);
      return true;
    case '?':
      showsHelp.value = true;
      return true;
    default:
      return false;
  }
}

function isSearchBox(target: EventTarget | null): target is HTMLInputElement {
  return target instanceof HTMLInputElement && target.type === 'search';
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select') !== null;
}
