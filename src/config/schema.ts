/**
 * Types of a schema. It has each option and its sources; the code that takes the option checks its
 * value, so that each rule exists once.
 */

/** How a text from the environment is converted to the option's value. */
export type LeafForm = 'text' | 'number' | 'boolean' | 'duration' | 'data';

/** One option. */
export interface Leaf {
  readonly kind: 'leaf';
  /** Description in a sentence or two for the reference. */
  readonly about: string;
  readonly form: LeafForm;
  /** Default value; absent: none. */
  readonly fallback?: unknown;
  /** Description of a default that is no value. */
  readonly otherwise?: string;
  /** Kept as a `Secret`, which is masked as a whole, or as a URL without its password. */
  readonly secret?: 'whole' | 'url';
  /** Path of a file, relative to the configuration's folder. */
  readonly isFile?: boolean;
  /** Throws `InvalidOptionError` for an invalid value. */
  readonly check: (value: unknown) => unknown;
}

/** Options under one name. */
export interface Section {
  readonly kind: 'section';
  readonly about?: string;
  readonly fields: Readonly<Record<string, SchemaNode>>;
  /** Keys besides the fields that are read elsewhere. */
  readonly others?: readonly string[];
  /** Absent unless a source sets a part of it. */
  readonly isOptional?: boolean;
  /** Accepts the word `default` in its place. */
  readonly orDefault?: boolean;
  /** Throws `InvalidOptionError` for options that exclude each other. */
  readonly check?: (value: Readonly<Record<string, unknown>>) => unknown;
}

/** Sections with names of the user's choice. */
export interface Dictionary {
  readonly kind: 'dictionary';
  readonly about: string;
  readonly of: Section;
  /** Throws `InvalidOptionError` for an invalid name. */
  readonly checkKey: (name: string) => unknown;
}

/** Node of the schema. */
export type SchemaNode = Leaf | Section | Dictionary;

/** One option of the schema with its path; `*` is a name of the user's choice. */
export interface OptionEntry {
  readonly path: string;
  readonly leaf: Leaf;
  /** Variable that sets it; none below a `*`. */
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

/** `FAIRLOOM_REDIS_KEY_PREFIX` sets `redis.keyPrefix`. */
function variableOf(path: string): string {
  const words = path.replaceAll('.', '_').replaceAll(/[A-Z]/g, (letter) => `_${letter}`);
  return `FAIRLOOM_${words.toUpperCase()}`;
}
