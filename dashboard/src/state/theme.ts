/** Light or dark: the setting of the system, until one is chosen. */
import { signal } from '@preact/signals';
import { keep, kept } from './storage.ts';

type Theme = 'light' | 'dark';

const KEY = 'fairloom.theme';
const wishesDark = matchMedia('(prefers-color-scheme: dark)');

/** The theme in force. */
export const theme = signal<Theme>(chosen() ?? (wishesDark.matches ? 'dark' : 'light'));

wishesDark.addEventListener('change', () => {
  if (chosen() === undefined) theme.value = wishesDark.matches ? 'dark' : 'light';
});
theme.subscribe((value) => {
  document.documentElement.dataset['theme'] = value;
});

/** The other one, and it is remembered. */
export function turnTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  keep('browser', KEY, theme.value);
}

function chosen(): Theme | undefined {
  const value = kept('browser', KEY);
  return value === 'light' || value === 'dark' ? value : undefined;
}
