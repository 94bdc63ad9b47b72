/** Where the page stands: the part of the address behind `#`, so that no server has to know of screens. */
import { computed, signal } from '@preact/signals';

/** A screen, what it is about, and how it is looked at. */
export interface Address {
  /** As `tasks`. */
  readonly place: string;
  /** Of one task, run or user. */
  readonly id: string | undefined;
  /** Filters, choices, an open drawer. */
  readonly query: ReadonlyMap<string, string>;
}

/** What changes of a query; `undefined` takes a parameter away. */
export type Changes = Readonly<Record<string, string | undefined>>;

const hash = signal(location.hash);
/** The address of now. */
export const address = computed(() => addressOf(hash.value));

addEventListener('hashchange', follow);

function follow(): void {
  hash.value = location.hash;
}

/** Reads what stands behind `#`. */
function addressOf(text: string): Address {
  const [path = '', search = ''] = text.replace(/^#\/?/, '').split('?');
  const [place = '', ...rest] = path.split('/');
  const id = rest.join('/');
  return {
    place: place === '' ? 'overview' : place,
    id: id === '' ? undefined : decoded(id),
    query: new Map(new URLSearchParams(search)),
  };
}

/** The link to a screen. */
export function linkTo(place: string, id?: string, query: Changes = {}): string {
  const path = id === undefined ? place : `${place}/${encodeURIComponent(id)}`;
  const search = searchOf(new Map(), query);
  return `#/${path}${search}`;
}

/** The link to where we are, looked at another way. */
export function linkHere(changes: Changes): string {
  const { place, id, query } = address.value;
  const path = id === undefined ? place : `${place}/${encodeURIComponent(id)}`;
  return `#/${path}${searchOf(query, changes)}`;
}

/** Goes there, and can come back. The next key finds the new screen: the event comes later. */
export function goTo(link: string): void {
  location.hash = link;
  follow();
}

/** Changes how we look at it, without a step to come back to. */
export function lookBy(changes: Changes): void {
  history.replaceState(null, '', linkHere(changes));
  follow();
}

function searchOf(query: ReadonlyMap<string, string>, changes: Changes): string {
  const found = new URLSearchParams([...query]);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === '') found.delete(key);
    else found.set(key, value);
  }
  const text = found.toString();
  return text === '' ? '' : `?${text}`;
}

/** A link that was cut still shows its page. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
