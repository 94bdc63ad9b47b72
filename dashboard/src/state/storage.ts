/** What the browser keeps for this page, which also works where the browser keeps nothing or refuses access. */

/** `tab`: until the tab is closed; `browser`: until it is cleared. */
export type KeptFor = 'browser' | 'tab';

/** What is kept under a name. */
export function kept(how: KeptFor, key: string): string | undefined {
  try {
    return storeOf(how).getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text; whether that went well. */
export function keep(how: KeptFor, key: string, text: string): boolean {
  try {
    storeOf(how).setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

/** Asking for a store may throw, where the browser is told to keep nothing. */
function storeOf(how: KeptFor): Storage {
  return how === 'tab' ? sessionStorage : localStorage;
}
