import { useState } from 'preact/hooks';

/** Maximum length of a text whose keys are colored, in characters. A longer text would take long to draw. */
const maxColored = 200_000;

/** Shows YAML, with a button that copies it. */
export function YamlView({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 2_000);
  };
  return (
    <div class="code-frame">
      <button type="button" class="copy" onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region must be reached by keyboard */}
      <section class="code-scroll" tabIndex={0} aria-label={label}>
        <pre>{text.length > maxColored ? text : text.split('\n').map(coloredLine)}</pre>
      </section>
    </div>
  );
}

function coloredLine(line: string, at: number) {
  const [, before = '', key = '', rest = ''] = /^(\s*(?:- )*)((?:[^\s:#'"-][^:]*|"[^"]*"|'[^']*'):)(?=\s|$)(.*)$/.exec(line) ?? [];
  if (key === '') return `${line}\n`;
  return (
    <span key={at}>
      {before}
      <span class="yaml-key">{key}</span>
      {`${rest}\n`}
    </span>
  );
}
