/**
 * What a schema is made of. It says what each option is and where a value for it may come from;
 * whether a value will do is asked of the code that takes it, so that no rule is said twice.
 */

/** How a text from the environment becomes a value of the option. */
export type LeafForm = 'text' | 'number' | 'boolean' | 'duration' | 'data';

/** One option. */
export interface Leaf {
  readonly kind: 'leaf';
  /** What it does, in a sentence or two for the reference. */
  readonly about: string;
  readonly form: LeafForm;
  /** Used when no source gives a value; absent: then there is none. */
  readonly fallback?: unknown;
  /** The fallback in words, where there is no value to show. */
  readonly otherwise?: string;
  /** Kept as a `Secret`, which shows nothing, or a URL without its password. */
  readonly secret?: 'whole' | 'url';
  /** The path of a file, relative to the configuration's own folder. */
  readonly isFile?: boolean;
  /** Throws `InvalidOptionError` for what the option cannot be. */
  readonly check: (value: unknown) => unknown;
}

/** Options under one name. */
export interface Section {
  readonly kind: 'section';
  readonly about?: string;
  readonly fields: Readonly<Record<string, SchemaNode>>;
  /** Keys beside the fields that are read elsewhere. */
  readonly others?: readonly string[];
  /** Absent unless a source gives a part of it. */
  readonly isOptional?: boolean;
  /** The word `default` may stand in its place. */
  readonly orDefault?: boolean;
  /** Throws `InvalidOptionError` for options that cannot stand together. */
  readonly check?: (value: Readonly<Record<string, unknown>>) => unknown;
}

/** Sections by names that the user chooses. */
export interface Dictionary {
  readonly kind: 'dictionary';
  readonly about: string;
  readonly of: Section;
  /** Throws `InvalidOptionError` for a name that cannot be. */
  readonly checkKey: (name: string) => unknown;
}

/** What may stand at a path of the schema. */
export type SchemaNode = Leaf | Section | Dictionary;

/** One option of the schema with its path; `*` stands for a name that the user chooses. */
export interface OptionEntry {
  readonly path: string;
  readonly leaf: Leaf;
  /** The variable that sets it; there is none below a `*`. */
  readonly variable: string | undefined;
}

/** Every option, in the order of the schema. */
export function optionsOf(root: Section): readonly OptionEntry[] {
  return Object.entries(root.fields).flatMap(([name, node]) => below(node, name));
}

function below(node: SchemaNode, path: string): readonly OptionEntry[] {
  switch (node.kind) {
    case 'leaf':
      return [{ path, leaf: node, variable: path.includes('*') ? undefined : variableOf(path) }];
    case 'dictionary':
      return below(node.of, `${path}.*`);
    case 'section':
      return Object.entries(node.fields).flatMap(([name, field]) =>
        below(field, `${path}.${name}`),
      );
  }
}

/** `redis.keyPrefix` is set by `FAIRLOOM_REDIS_KEY_PREFIX`. */
function variableOf(path: string): string {
  const words = path.replaceAll('.', '_').replaceAll(/[A-Z]/g, (letter) => `_${letter}`);
  return `FAIRLOOM_${words.toUpperCase()}`;
}
