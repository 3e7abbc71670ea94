/** The most lines of a diff that are drawn. */
const maxLines = 5_000;

/** Shows a unified diff. Lines keep their first character, so that the meaning does not depend on color. */
export function DiffView({ diff, label }: { readonly diff: string; readonly label: string }) {
  const lines = diff.replace(/\n$/, '').split('\n');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region must be reached by keyboard
    <section class="diff" aria-label={label} tabIndex={0}>
      <pre>
        {lines.slice(0, maxLines).map((line, at) => (
          <span key={at} class={classOfLine(line)}>
            {line === '' ? ' ' : line}
          </span>
        ))}
      </pre>
      {lines.length > maxLines ? <p class="dim">{`${lines.length - maxLines} more lines are not shown.`}</p> : null}
    </section>
  );
}

function classOfLine(line: string): string {
  if (/^(?:---|\+\+\+)(?: |$)/.test(line)) return 'diff-file';
  if (line.startsWith('@@')) return 'diff-place';
  if (line.startsWith('+')) return 'diff-added';
  return line.startsWith('-') ? 'diff-removed' : 'diff-same';
}
