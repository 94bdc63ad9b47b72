/** The list of screens, with what needs a look. */
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { About } from '../api/shapes.ts';
import { source } from '../api/sources.ts';
import { Icon, Twill } from '../parts/icon.tsx';
import { address, linkTo } from '../state/address.ts';
import { takeMoment } from '../state/clock.ts';
import { open } from '../state/overlay.ts';
import { useReading } from '../state/readings.ts';
import { about, isLimited } from '../state/session.ts';
import { zoneText } from '../words/lengths.ts';
import { countText } from '../words/numbers.ts';
import { type Place, placesHere } from './places.ts';

/** On a phone so many stand at the foot, and the others behind "More". */
const AT_FOOT = 4;

/** At the left of a wide window. */
export function Side(): VNode {
  const known = about.value;
  return (
    <aside class="side" aria-label="Where to go">
      <a class="brand" href={linkTo('overview')}>
        <Twill />
        <b>Fairloom</b>
      </a>
      <p class="place">{known === undefined ? ' ' : placeText(known)}</p>
      <nav class="nav" aria-label="Screens">
        <Places />
      </nav>
      <div class="side-foot">
        <span>times in {zoneText()}</span>
        <span>{known === undefined ? '' : `fairloom ${known.version}`}</span>
      </div>
    </aside>
  );
}

/** Which store, and whose. */
function placeText({ backend, namespace, users }: About): string {
  return [namespace, users === undefined ? backend : users.join(', ')]
    .filter((part) => part !== undefined)
    .join(' · ');
}

function Places(): VNode {
  const counts = useCounts();
  const { place } = address.value;
  return (
    <>
      {placesHere().map((one) => (
        <PlaceLink key={one.key} place={one} isHere={one.key === place} count={counts[one.key]} />
      ))}
    </>
  );
}

interface PlaceLinkProps {
  readonly place: Place;
  readonly isHere: boolean;
  readonly count: number | undefined;
}

function PlaceLink({ place, isHere, count }: PlaceLinkProps): VNode {
  return (
    <a href={linkTo(place.key)} aria-current={isHere ? 'page' : undefined}>
      <Icon name={place.icon} />
      <span>{place.title}</span>
      {count === undefined || count === 0 ? null : (
        <span class={place.key === 'dead' ? 'count bad' : 'count'}>{countText(count)}</span>
      )}
    </a>
  );
}

/** What waits for a hand, by screen. */
function useCounts(): Readonly<Record<string, number>> {
  const canSeeAll = about.value !== undefined && !isLimited.value;
  const { value } = useReading(canSeeAll ? source('GET /overview') : undefined);
  const at = value?.at;
  useEffect(() => {
    if (at !== undefined) takeMoment(at);
  }, [at]);
  const asks = value?.waiting?.find(({ kind }) => kind === 'ask')?.count;
  return {
    ...(value?.dead === undefined ? {} : { dead: value.dead }),
    ...(asks === undefined ? {} : { asks }),
  };
}

/** At the foot of a phone. */
export function FootTabs(): VNode {
  const { place } = address.value;
  return (
    <nav class="tabs-foot" aria-label="Screens, short">
      {placesHere()
        .filter(({ key }) => key !== 'queues')
        .slice(0, AT_FOOT)
        .map(({ key, title, icon }) => (
          <a key={key} href={linkTo(key)} aria-current={key === place ? 'page' : undefined}>
            <Icon name={icon} size={20} />
            <span>{title}</span>
          </a>
        ))}
      <button type="button" onClick={() => open({ kind: 'palette' })}>
        <Icon name="more" size={20} />
        <span>More</span>
      </button>
    </nav>
  );
}
