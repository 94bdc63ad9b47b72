/** What the keys do. */
import type { VNode } from 'preact';
import { Dialog } from '../parts/dialog.tsx';
import { close } from '../state/overlay.ts';
import { KEYS } from './keys.ts';
import { placesHere } from './places.ts';

/** All of them; ⇧ means: I am sure. */
export function KeyList(): VNode {
  const letters = placesHere().map(({ title, letter }) => [title, `g ${letter}`] as const);
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="keys">
        {[...KEYS, ...letters].map(([does, keys]) => (
          <div key={does}>
            <dt>{does}</dt>
            <dd>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
