import { signal } from '@preact/signals';

const storageKey = 'muster.theme';
const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');

const chosen = signal<string | undefined>(localStorage.getItem(storageKey) ?? undefined);
const system = signal(systemIsDark.matches);

/** True in dark mode. */
export function isDark(): boolean {
  return chosen.value === undefined ? system.value : chosen.value === 'dark';
}

/** Changes to the other mode and remembers it. */
export function toggleDark(): void {
  chosen.value = isDark() ? 'light' : 'dark';
  localStorage.setItem(storageKey, chosen.value);
  apply();
}

/** Applies the mode that was chosen, else that of the system. Call this once, before the first render. */
export function startTheme(): void {
  systemIsDark.addEventListener('change', ({ matches }) => {
    system.value = matches;
  });
  apply();
}

function apply(): void {
  if (chosen.value !== undefined) document.documentElement.dataset.theme = chosen.value;
}
