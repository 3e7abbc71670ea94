import { useEffect, useRef, useState } from 'preact/hooks';
import { changeQuery, path, query } from '../browser/location.ts';

/** Milliseconds after the last key until the page searches. */
const quietMs = 150;

/** The search box of a page. A change of its text changes the member `search` of the query, 150 ms after the last key. */
export function SearchBox({ label, onEnter }: { readonly label: string; readonly onEnter?: () => void }) {
  const given = query.value.get('search') ?? '';
  const [text, setText] = useState(given);
  const typed = useRef(given);
  const timer = useRef<number>(undefined);
  useEffect(() => {
    if (given === typed.current) return;
    clearTimeout(timer.current);
    typed.current = given;
    setText(given);
  }, [given]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onText = (next: string) => {
    const page = path.peek();
    setText(next);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      // The browser's Back may have changed the URL before this box shows it. That URL must not get the text of the page before.
      if (path.peek() !== page || (query.peek().get('search') ?? '') !== typed.current) return;
      typed.current = next;
      changeQuery({ search: next });
    }, quietMs);
  };
  return (
    <input
      type="search"
      class="search"
      aria-label={label}
      placeholder={`${label}  /`}
      value={text}
      spellcheck={false}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
      onKeyDown={({ key }) => (key === 'Enter' ? onEnter?.() : undefined)}
    />
  );
}
