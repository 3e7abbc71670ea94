import { computed, signal } from '@preact/signals';

const current = signal(new URL(window.location.href));

/** The path of the page, still percent-encoded. */
export const path = computed(() => current.value.pathname);

/** The query of the URL: the state of the page. */
export const query = computed(() => current.value.searchParams);

/** Shows another page, or another state of this page, without a reload. The browser's Back shows the page before. */
export function navigate(href: string): void {
  history.pushState(null, '', href);
  current.value = new URL(window.location.href);
}

/**
 * Changes members of the query of the URL. Undefined or an empty text removes a member. With `isStep: true`, the browser's Back undoes the
 * change. Default: false, for fields that change the query with each key.
 */
export function changeQuery(changes: Readonly<Record<string, string | undefined>>, { isStep = false } = {}): void {
  const url = new URL(current.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  if (url.href === current.value.href) return;
  if (isStep) history.pushState(null, '', url);
  else history.replaceState(null, '', url);
  current.value = url;
}

/** From now on, Back, Forward and clicks on links of the console show their page without a reload. Call this once. */
export function followLinks(): void {
  window.addEventListener('popstate', () => {
    current.value = new URL(window.location.href);
  });
  document.addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!isPlain || event.defaultPrevented || link === null || link.origin !== window.location.origin || link.pathname === '/graphql')
      return;
    event.preventDefault();
    navigate(link.href);
  });
}
