import type { ComponentChildren } from 'preact';

/** Shows what failed. Screen readers read the text aloud at once. */
export function Alert({ children }: { readonly children: ComponentChildren }) {
  return (
    <div role="alert" class="alert">
      {children}
    </div>
  );
}
