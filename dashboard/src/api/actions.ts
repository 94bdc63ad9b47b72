/** What can be done, each with the call that does it and the command that does the same. */
import type { IconName } from '../parts/icon.tsx';
import type { Capability } from './shapes.ts';

/** Something to be done, after it was shown. */
export interface Action {
  /** As on its button. */
  readonly name: string;
  readonly icon: IconName;
  /** What it is done to, and what follows. */
  readonly about: string;
  readonly needs: Capability;
  readonly method: 'DELETE' | 'PATCH' | 'POST';
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly command: string;
  /** It takes something away or ends it. */
  readonly isDestructive?: boolean;
  /** How many it changes. */
  readonly count?: number;
  /** The same in words, where that is no number. */
  readonly howMany?: string;
  /** It may be done slowly, so many per time. */
  readonly hasRate?: boolean;
  /** The same, which counts and changes nothing. */
  readonly dryRun?: Action;
  /** Where to go when it is done. */
  readonly leads?: (answer: { readonly id?: string }) => string;
}

/** Above so many the word has to be typed. */
export const TYPED_ABOVE = 100;

/** A path below the API, whatever its parts hold. */
export function callPath(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
