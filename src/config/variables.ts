/** `${NAME}` and `${NAME:-default}` in texts of a file, and what texts mean to options. */
import type { LeafForm } from './schema.ts';

/** `$$` before a brace is a plain `$`; then `${NAME}`, with a default or without; then any other `${`. */
const PLACES = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{/g;

/** A text after its variables were put in, and what was wrong with them. */
export interface Filled {
  readonly text: string;
  /** Whether a variable stood in it. */
  readonly hadVariables: boolean;
  /** Variables that are not set and have no default. */
  readonly missing: readonly string[];
  /** Whether a `${` is the start of nothing. */
  readonly isBroken: boolean;
}

/** Puts variables into a text. One that is empty counts as not set where there is a default. */
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

/** A text that reads as itself when a file is loaded. */
export function escaped(text: string): string {
  return text.replaceAll('${', '$$${');
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/** What a text stands for; one that stands for nothing of that form is left as it is. */
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
