import { useEffect, useRef, useState } from 'preact/hooks';
import { changeQuery, query } from '../browser/location.ts';

/** Milliseconds after the last key until the page searches. */
const quietMs = 150;

/** The search box of a page. A change of its text changes the member `search` of the query, 150 ms after the last key. */
export function SearchBox({ label, onEnter }: { readonly label: string; readonly onEnter?: () => void }) {
  const given = query.value.get('search') ?? '';
  const [text, setText] = useState(given);
  const typed = useRef(given);
  useEffect(() => {
    if (given === typed.current) return;
    typed.current = given;
    setText(given);
  }, [given]);
  useEffect(() => {
    const timer = setTimeout(() => {
      typed.current = text;
      changeQuery({ search: text });
    }, quietMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      class="search"
      aria-label={label}
      placeholder={`${label}  /`}
      value={text}
      spellcheck={false}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
      onKeyDown={({ key }) => (key === 'Enter' ? onEnter?.() : undefined)}
    />
  );
}
