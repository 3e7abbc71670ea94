import type { ComponentChildren } from 'preact';

interface HeadingProps {
  readonly title: string;
  /** The small line above the title, such as links to the pages above this one. Default: none. */
  readonly kicker?: ComponentChildren;
  /** Buttons or links next to the title. */
  readonly children?: ComponentChildren;
}

/** The heading of a page. It can take the focus, so that a screen reader begins there after a link. */
export function Heading({ title, kicker, children }: HeadingProps) {
  return (
    <header class="page-head">
      <div class="page-title">
        {kicker === undefined ? null : <p class="kicker">{kicker}</p>}
        <h1 tabIndex={-1}>{title}</h1>
      </div>
      {children === undefined ? null : <div class="page-actions">{children}</div>}
    </header>
  );
}
