import { useRef } from 'preact/hooks';
import { keepToken, signIn } from '../gateway/session.ts';
import { Alert } from './alert.tsx';
import { Heading } from './heading.tsx';

/** Asks for the bearer token that the gateway wants. */
export function SignIn() {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    if (text !== '') keepToken(text);
  };
  return (
    <div class="sign-in">
      <Heading title="Sign in" />
      <p>This gateway wants a token. It is kept in this tab only, until the tab is closed.</p>
      {signIn.value === 'wrong' ? <Alert>The gateway does not accept this token. It may be wrong, or no longer valid.</Alert> : null}
      <form onSubmit={submit}>
        <label>
          <span>Token</span>
          <input ref={field} type="password" autocomplete="current-password" required />
        </label>
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </div>
  );
}
