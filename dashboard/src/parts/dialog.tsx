/** What lies over a screen and keeps the focus until it is closed. */
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** `drawer`: at the side; `palette`: without a head. */
  readonly kind?: 'dialog' | 'drawer' | 'palette';
}

/** The browser's own dialog: it keeps the focus, closes by Escape, and makes what is below it inert. */
export function Dialog({ title, onClose, children, kind = 'dialog' }: DialogProps): VNode {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('input, textarea, [type=submit]')?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={box}
      class={kind}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget) onClose();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <div class="dialog-body">
        {kind === 'palette' ? null : (
          <header class="head">
            <h2>{title}</h2>
            <span class="push">
              <Button kind="quiet" icon="close" label="Close" onPress={onClose} />
            </span>
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
}
