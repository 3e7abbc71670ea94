import type { PageAddress } from '../browser/paths.ts';
import { isDark, toggleDark } from '../browser/theme.ts';
import { signOut, token } from '../gateway/session.ts';
import { showsHelp } from '../keys/hotkeys.ts';

type PageName = PageAddress['page'];

const links: readonly { readonly name: string; readonly href: string; readonly pages: readonly PageName[] }[] = [
  { name: 'Fleet', href: '/', pages: ['fleet'] },
  { name: 'Objects', href: '/objects', pages: ['objects', 'kind', 'object'] },
  { name: 'Jobs', href: '/jobs', pages: ['jobs'] },
  { name: 'Propagations', href: '/propagations', pages: ['propagations', 'new-propagation', 'propagation'] },
];

/** The bar at the top of each page: links to the pages, and the buttons of the console itself. */
export function TopBar({ page }: { readonly page: PageName }) {
  return (
    <header class="top-bar">
      <span class="brand" aria-hidden="true">
        <span class="brand-mark" />
        Muster
      </span>
      <nav aria-label="Pages">
        {links.map(({ name, href, pages }) => (
          <a key={name} href={href} aria-current={pages.includes(page) ? 'page' : undefined}>
            {name}
          </a>
        ))}
        <a href="/graphql">GraphiQL</a>
      </nav>
      <div class="top-actions">
        {token.value === undefined ? null : (
          <button type="button" class="quiet" onClick={signOut}>
            Sign out
          </button>
        )}
        <button type="button" class="quiet round" aria-label="Keys" title="Keys (?)" onClick={() => (showsHelp.value = true)}>
          ?
        </button>
        <button
          type="button"
          class="quiet round mode"
          aria-label="Dark mode"
          title="Dark mode"
          aria-pressed={isDark()}
          onClick={toggleDark}
        />
      </div>
    </header>
  );
}
