import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { changeQuery, query } from '../browser/location.ts';

export interface Tab {
  /** The value of `tab` in the query. */
  readonly id: string;
  readonly title: string;
  readonly content: () => ComponentChildren;
}

/** Shows one of several panels. The member `tab` of the query chooses it; by default it is the first. Arrow keys move between the tabs. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const chosen = tabs.find((tab) => tab.id === query.value.get('tab')) ?? tabs[0];
  const choose = (tab: Tab | undefined) => changeQuery({ tab: tab === tabs[0] ? undefined : tab?.id }, { isStep: true });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || chosen === undefined) return;
    event.preventDefault();
    const next = (tabs.indexOf(chosen) + step + tabs.length) % tabs.length;
    choose(tabs[next]);
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <>
      <div role="tablist" aria-label={label} class="tab-list" ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => choose(tab)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen?.id ?? ''}`} class="tab-panel" key={chosen?.id}>
        {chosen?.content()}
      </div>
    </>
  );
}
