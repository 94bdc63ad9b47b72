/** The page around the screens: where to go, what is live, and what lies over all of it. */
import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { ActionDialog } from '../parts/action.tsx';
import { ExportDialog } from '../parts/export.tsx';
import { Icon } from '../parts/icon.tsx';
import { SaveViewDialog } from '../screens/tasks/saved-views.tsx';
import { address } from '../state/address.ts';
import { overlay, toast } from '../state/overlay.ts';
import { away } from '../state/readings.ts';
import { about, refused } from '../state/session.ts';
import { KeyList } from './key-list.tsx';
import { AwayBar, ProblemsBar, ReadOnlyBar, Refused } from './notices.tsx';
import { Palette } from './palette.tsx';
import { FootTabs, Side } from './side.tsx';
import { TopBar } from './top-bar.tsx';

/** Everything. */
export function App({ children }: { readonly children: ComponentChildren }): VNode {
  if (refused.value !== undefined) return <Refused problem={refused.value} />;
  return (
    <>
      <button type="button" class="skip" onClick={toMain}>
        To the content
      </button>
      <div class="selvedge" />
      <div class="shell">
        <Side />
        <div class="page">
          <TopBar />
          <AwayBar />
          <ProblemsBar />
          <ReadOnlyBar />
          <Main>{about.value === undefined ? null : children}</Main>
        </div>
      </div>
      <FootTabs />
      <Over />
      <Toast />
    </>
  );
}

function Main({ children }: { readonly children: ComponentChildren }): VNode {
  const { place, id } = address.value;
  useEffect(() => scrollTo(0, 0), [place, id]);
  return (
    <main id="main" tabIndex={-1} class={away.value === undefined ? '' : 'is-stale'}>
      {children}
    </main>
  );
}

function toMain(): void {
  document.getElementById('main')?.focus();
}

function Over(): VNode | null {
  const over = overlay.value;
  switch (over?.kind) {
    case undefined:
      return null;
    case 'action':
      return <ActionDialog action={over.action} />;
    case 'export':
      return <ExportDialog of={over.of} />;
    case 'keys':
      return <KeyList />;
    case 'palette':
      return <Palette />;
    case 'save-view':
      return <SaveViewDialog where={over.where} />;
  }
}

function Toast(): VNode {
  const said = toast.value;
  return (
    <div class="toasts" role="status">
      {said === undefined ? null : (
        <div class={`toast t-${said.tone}`}>
          <Icon name={said.tone === 'ok' ? 'ok' : 'warn'} />
          <span>{said.text}</span>
        </div>
      )}
    </div>
  );
}
