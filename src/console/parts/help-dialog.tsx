import { hotkeys, showsHelp } from '../keys/hotkeys.ts';
import { Dialog } from './dialog.tsx';

/** Shows all keys. */
export function HelpDialog() {
  const close = () => {
    showsHelp.value = false;
  };
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="keys">
        {hotkeys.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <>
                  <kbd key={key}>{key}</kbd>{' '}
                </>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
