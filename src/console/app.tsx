import { useEffect, useRef } from 'preact/hooks';
import { path } from './browser/location.ts';
import { addressOf, type PageAddress } from './browser/paths.ts';
import { isAway } from './gateway/connection.ts';
import { signIn } from './gateway/session.ts';
import { showsHelp } from './keys/hotkeys.ts';
import { FleetPage } from './pages/fleet-page.tsx';
import { JobsPage } from './pages/jobs-page.tsx';
import { KindPage } from './pages/kind-page.tsx';
import { NewPropagationPage } from './pages/new-propagation-page.tsx';
import { ObjectPage } from './pages/object-page.tsx';
import { ObjectsPage } from './pages/objects-page.tsx';
import { SinglePropagationPage } from './pages/propagation-page.tsx';
import { PropagationsPage } from './pages/propagations-page.tsx';
import { UnknownPage } from './pages/unknown-page.tsx';
import { HelpDialog } from './parts/help-dialog.tsx';
import { SignIn } from './parts/sign-in.tsx';
import { TopBar } from './parts/top-bar.tsx';

/** The whole console: the bar, and the page of the current path. */
export function App() {
  const address = addressOf(path.value);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // Screen readers begin at the heading of a new page, as after a load.
  useEffect(() => {
    if (!isFirst.current) main.current?.querySelector('h1')?.focus();
    isFirst.current = false;
  }, [path.value]);
  useEffect(() => {
    const title = main.current?.querySelector('h1')?.textContent ?? '';
    document.title = title === '' ? 'Muster' : `${title} · Muster`;
  });
  return (
    <>
      <TopBar page={address.page} />
      {isAway.value ? (
        <div role="status" class="banner">
          The gateway does not answer. This page shows what it knew last, and tries again.
        </div>
      ) : null}
      <main ref={main}>{signIn.value === 'unneeded' ? <Page key={path.value} address={address} /> : <SignIn />}</main>
      {showsHelp.value ? <HelpDialog /> : null}
    </>
  );
}

function Page({ address }: { readonly address: PageAddress }) {
  switch (address.page) {
    case 'fleet':
      return <FleetPage />;
    case 'objects':
      return <ObjectsPage />;
    case 'kind':
      return <KindPage kind={address.kind} />;
    case 'jobs':
      return <JobsPage />;
    case 'object':
      return <ObjectPage {...address} />;
    case 'propagations':
      return <PropagationsPage />;
    case 'new-propagation':
      return <NewPropagationPage />;
    case 'propagation':
      return <SinglePropagationPage {...address} />;
    case 'unknown':
      return <UnknownPage />;
    default:
      return address satisfies never;
  }
}
