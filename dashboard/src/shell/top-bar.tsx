/** The head of the page: where we are, where to go, and whether it is live. */
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { address, linkTo } from '../state/address.ts';
import { now } from '../state/clock.ts';
import { open } from '../state/overlay.ts';
import { away, isStopped, readNow } from '../state/readings.ts';
import { turnTheme } from '../state/theme.ts';
import { momentText } from '../words/lengths.ts';
import { placeOf } from './places.ts';

/** Always in sight. */
export function TopBar(): VNode {
  const { place, id } = address.value;
  const title = placeOf(place)?.title ?? 'Nothing is here';
  useEffect(() => {
    document.title = `${id ?? title} · Fairloom`;
  }, [id, title]);
  return (
    <header class="top">
      <h1>
        {id === undefined ? (
          title
        ) : (
          <>
            <a class="up" href={linkTo(place)}>
              {title}
            </a>
            <span class="up"> / </span>
            {id}
          </>
        )}
      </h1>
      <span class="gap" />
      <button type="button" class="jump" onClick={() => open({ kind: 'palette' })}>
        <Icon name="search" />
        <span>Go to…</span>
        <kbd>⌘K</kbd>
      </button>
      <LiveSwitch />
      <span class="theme">
        <Button kind="quiet" icon="theme" label="Light or dark" onPress={turnTheme} />
      </span>
      <span class="help">
        <Button kind="quiet" icon="help" label="Keys" onPress={() => open({ kind: 'keys' })} />
      </span>
    </header>
  );
}

/** Stops what moves, so that it can be read. */
function LiveSwitch(): VNode {
  const isOff = isStopped.value;
  const isAway = away.value !== undefined;
  const kind = isAway ? 'is-cut' : isOff ? 'is-paused' : '';
  const press = (): void => {
    isStopped.value = !isStopped.value;
    if (!isStopped.value) readNow();
  };
  return (
    <div class={`live ${kind}`}>
      <span class="dot" />
      <span class="what">{isAway ? 'Away' : isOff ? 'Stopped' : 'Live'}</span>
      <span class="ago">{momentText(now.value, now.value)}</span>
      <Button
        kind="quiet"
        icon={isOff ? 'play' : 'paused'}
        label={isOff ? 'Go on' : 'Stop'}
        onPress={press}
      />
    </div>
  );
}
