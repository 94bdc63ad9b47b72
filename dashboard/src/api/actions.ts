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
  /** What may be changed before. */
  readonly edit?: ActionEdit;
  /** Where to go when it is done. */
  readonly leads?: (answer: { readonly id?: string }) => string;
}

/** The input that an action sends, and of which node it is. */
export interface ActionEdit {
  readonly label: string;
  /** What an empty one means. */
  readonly hint: string;
  /** What it is now, as JSON; empty where that is not known. */
  readonly text: string;
  /** It is sent also when it is left as it is. */
  readonly isWhole?: boolean;
  readonly nodes?: {
    /** What the API calls it. */
    readonly key: 'from' | 'node';
    readonly label: string;
    readonly names: readonly string[];
    /** Stands for none of them. */
    readonly none: string;
    /** One is chosen always. */
    readonly isNeeded: boolean;
  };
  /** With what was chosen and written. */
  readonly command: (said: {
    readonly node: string | undefined;
    readonly input: string | undefined;
  }) => string;
}

/** Above so many the word has to be typed. */
export const TYPED_ABOVE = 100;

/** A path below the API, with its parts encoded. */
export function callPath(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/');
}
