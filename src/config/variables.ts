/** `${NAME}` and `${NAME:-default}` in texts of a file, and the conversion of texts to values. */
import type { LeafForm } from './schema.ts';

/** `$$` before a brace is a plain `$`; then `${NAME}`, with a default or without; then any other `${`. */
const PLACES = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g;

/** A text with its variables replaced, and problems with them. */
export interface Filled {
  readonly text: string;
  /** Whether it contained a variable. */
  readonly hadVariables: boolean;
  /** Variables that are not set and have no default. */
  readonly missing: readonly string[];
  /** Whether a `${` is incomplete. */
  readonly isBroken: boolean;
}

/** Replaces variables in a text. An empty one counts as not set if there is a default. */
export function filled(text: string, env: NodeJS.ProcessEnv): Filled {
  const missing: string[] = [];
  let hadVariables = false;
  let isBroken = false;
  const result = text.replaceAll(PLACES, (place, name?: string, otherwise?: string) => {
    if (place === '$${') return '${';
    if (name === undefined) {
      isBroken = true;
      return place;
    }
    hadVariables = true;
    const value = env[name];
    if (otherwise !== undefined) return value === undefined || value === '' ? otherwise : value;
    if (value === undefined) missing.push(name);
    return value ?? '';
  });
  return { text: result, hadVariables, missing, isBroken };
}

/** Escapes a text, so that loading a file gives it unchanged. */
export function escaped(text: string): string {
  return text.replaceAll('${', '$$${');
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/** Converts a text to a value; a text of another form stays. */
export function readAs(text: string, form: LeafForm): unknown {
  switch (form) {
    case 'text':
      return text;
    case 'number':
    case 'duration':
      return NUMBER.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'data':
      if (NUMBER.test(text)) return Number(text);
      return /^\s*[[{]/.test(text) ? parsed(text) : text;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
